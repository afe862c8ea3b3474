// Keeps a grant on a small disk, one more when the disk is full, one less then, which is written when there is room again, and
// one more when it is full once more: full-disk-consents.ts DIRECTORY. To be run in a mount namespace of its own. Prints after
// each step whether it was kept, how many grants the next start has, and how much is not kept as it should be.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openConsentStore } from '../../src/state/consents.ts';
import { FakeClock } from './clock.ts';
import { grantOf, keptOf } from './consents.ts';

const [directory = ''] = process.argv.slice(2);
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', directory]);
const options = { path: join(directory, 'consents.json'), owner: { uid: process.getuid?.() ?? -1 } };
const clock = new FakeClock();
let tell = (): void => {};
const written = () => new Promise<void>((resolve) => (tell = resolve));
const log = (_level: string, event: string) => event === 'state file written again' && tell();
const store = await openConsentStore({ ...options, log, clock });
const report = async (isKept: boolean) => {
  const next = await openConsentStore({ ...options, log: () => {} });
  console.log(isKept, next.kept?.grants.length ?? 'none', store.problems().length);
};
const keep = async (ids: readonly string[], isNarrower: boolean) =>
  report(await store.save(keptOf(...ids.map((id) => grantOf({ id }))), { isNarrower }));
const filler = join(directory, 'filler');
const fill = () => {
  try {
    for (let size = 4096; ; size += 4096) writeFileSync(filler, Buffer.alloc(size));
  } catch {
    // Full.
  }
};

await keep(['g1', 'g2'], false);
fill();
await keep(['g1', 'g2', 'g3'], false);
await keep(['g1'], true);
rmSync(filler);
const again = written();
await clock.advance(10_000);
await again;
await report(true);
fill();
await keep(['g1', 'g2'], false);
rmSync(filler);
await keep([], false);
await store.close();
