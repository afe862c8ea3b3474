// Keeps a grant on a small disk, one more when the disk is full, none then, and none when there is room again:
// full-disk-consents.ts DIRECTORY. To be run in a mount namespace of its own. Prints after each step whether it was kept, and
// how many grants the next start has.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openConsentStore } from '../../src/state/consents.ts';
import { grantOf, keptOf } from './consents.ts';

const [directory = ''] = process.argv.slice(2);
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', directory]);
const options = { path: join(directory, 'consents.json'), owner: { uid: process.getuid?.() ?? -1 }, log: () => {} };
const store = await openConsentStore(options);
const keep = async (ids: readonly string[], isNarrower: boolean) => {
  const isKept = await store.save(keptOf(...ids.map((id) => grantOf({ id }))), { isNarrower });
  const next = await openConsentStore(options);
  console.log(isKept, next.kept?.grants.length ?? 'none');
};

await keep(['g1'], false);
const filler = join(directory, 'filler');
try {
  for (let size = 4096; ; size += 4096) writeFileSync(filler, Buffer.alloc(size));
} catch {
  // Full.
}
await keep(['g1', 'g2'], false);
await keep([], true);
rmSync(filler);
await keep([], false);
await store.close();
