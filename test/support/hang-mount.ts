// Run in a mount namespace of its own: mounts a file system that nobody serves, so that every call hangs, and watches
// roots on it and beside it. Prints why each root is not available: once all is known, then after a local one is deleted,
// and whether what hangs is noticed to be gone when it is unmounted.
import { execFileSync } from 'node:child_process';
import { openSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openNative } from '../../src/disk/native.ts';
import { openRootWatcher } from '../../src/disk/watch-roots.ts';
import { declare, pattern } from './root-watcher.ts';

const [base = ''] = process.argv.slice(2);
const fuse = openSync('/dev/fuse', 'r+');
const options = 'fd=3,rootmode=40000,user_id=0,group_id=0';
execFileSync('mount', ['-i', '-t', 'fuse', '-o', options, 'none', `${base}/hangs`], {
  stdio: ['ignore', 'ignore', 'inherit', fuse],
});
const native = await openNative();
const watcher = openRootWatcher({
  declarations: [
    declare('direct', `${base}/hangs`),
    declare('link', `${base}/l`),
    declare('members', `${base}/all/*`),
    declare('local', `${base}/local`),
  ],
  patterns: [pattern(`${base}/hangs/secret`), pattern(`${base}/all/*`), pattern(`${base}/l/*`)],
  readProject: () => undefined,
  onChange: () => {},
  onWarning: () => {},
  isPatient: true,
  ...(native === null ? {} : { mountsChanged: native.mountsChanged }),
});

/** Of what is listed: no link is a member, wherever it leads. */
function whys(): Readonly<Record<string, string>> {
  return Object.fromEntries(watcher.places().roots.map(({ name, unavailable }) => [name, unavailable]));
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10);
}

const report: unknown[] = [];
await until(
  () => whys().direct?.includes('does not answer') === true && whys().link?.includes('does not answer') === true,
);
report.push(whys());
rmSync(`${base}/local`, { recursive: true });
await until(() => whys().local !== '');
report.push(whys());
execFileSync('umount', ['-l', `${base}/hangs`]);
await until(() => whys().direct === '' && whys().link === 'does not exist');
report.push('unmounted');
report.push(watcher.counts().abandoned === 0);
watcher.close();
console.log(JSON.stringify(report));
process.exit();
