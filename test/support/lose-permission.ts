// Run as a user who is refused things by file modes: loses and regains the permission to read roots while they are
// watched, just made and made an hour ago. Prints what the watcher says after each step, as a list of [available, why, changes].
import { chmodSync, mkdirSync } from 'node:fs';
import { SYSTEM_CLOCK } from '../../src/disk/clock.ts';
import { openRootWatcher } from '../../src/disk/watch-roots.ts';
import { letTick } from './clock.ts';
import { declare } from './root-watcher.ts';

const [base = ''] = process.argv.slice(2);
const report: unknown[] = [];

const cases = [
  ['direct', 'direct'],
  ['up/root', 'up'],
  ['members/*', 'members/m'],
] as const;
for (const [root, shut, aheadMs] of [0, 3_600_000].flatMap((aheadMs) =>
  cases.map((one) => [...one, aheadMs] as const),
)) {
  mkdirSync(`${base}/${root.replace('*', 'm')}`, { recursive: true });
  let changes = 0;
  const watcher = openRootWatcher({
    declarations: [declare('r', `${base}/${root}`)],
    patterns: [],
    readProject: () => undefined,
    onChange: () => {
      changes += 1;
    },
    onWarning: () => {},
    clock: { ...SYSTEM_CLOCK, epochMs: () => Date.now() + aheadMs },
  });
  await watcher.sweep();
  for (const mode of [0, 0o700]) {
    letTick(base);
    chmodSync(`${base}/${shut}`, mode);
    await watcher.sweep();
    const [facts] = watcher.places().roots;
    report.push([facts?.available, facts?.unavailable, changes]);
  }
  watcher.close();
}
console.log(JSON.stringify(report));
