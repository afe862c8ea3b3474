// Node 20 gives worker threads no TypeScript: `--import tsx` does not reach them.
import { register } from 'tsx/esm/api';

register();
await import('./worker.ts');
