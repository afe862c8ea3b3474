// Keeps a layer on a small disk, again when the disk is full, and once more when there is room: full-disk-last-good.ts
// DIRECTORY. To be run in a mount namespace of its own. Prints the state of what is kept after each step.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLastGood } from '../../src/state/last-good.ts';

const [directory = ''] = process.argv.slice(2);
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', directory]);
const store = openLastGood({
  directory: join(directory, 'kept'),
  owner: { uid: process.getuid?.() ?? -1 },
  log: () => {},
});
const keep = async (text: string) => {
  await store.save('user', [{ path: '/p/a.yaml', text }]);
  console.log((await store.load('user')).state);
};

await keep('version: 1\n');
const filler = join(directory, 'filler');
try {
  for (let size = 4096; ; size += 4096) writeFileSync(filler, Buffer.alloc(size));
} catch {
  // Full.
}
await keep(`version: 1\n#${'x'.repeat(8192)}\n`);
rmSync(filler);
await keep('version: 1\n# again\n');
