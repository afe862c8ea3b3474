// `rootsd run` with a bug: at SIGUSR2 something is thrown that nobody catches.
import { runMain } from '../../src/run/main.ts';

process.on('SIGUSR2', () => {
  throw new TypeError('made for a test');
});
await runMain(process.argv.slice(2), { binRootsd: '' });
