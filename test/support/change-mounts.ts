// Run in a mount namespace of its own: changes what is mounted at and around a root that is watched, and prints for each
// case what the watcher says after every step: [available, which directory it is, changes told so far].
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openNative } from '../../src/disk/native.ts';
import { openRootWatcher } from '../../src/disk/watch-roots.ts';
import { declare, HINTS_ONLY } from './root-watcher.ts';

/** `up/root` holds a file `below`; `other` one that is named so, and `up`, which has a root with `elsewhere` in it. */
const TREE = ['up/root/below', 'other/other', 'other/root/elsewhere', 'empty'];

const CASES: Readonly<Record<string, readonly string[]>> = {
  'mounted over': ['mount -t tmpfs none up/root', 'umount up/root'],
  'a bind mount over it': ['mount --bind other up/root', 'umount up/root'],
  'mounted over twice': [
    'mount -t tmpfs none up/root',
    'mount --bind other up/root',
    'umount up/root',
    'umount up/root',
  ],
  'its parent mounted over': ['mount --bind other up', 'umount up'],
  'its parent mounted over by nothing like it': ['mount -t tmpfs none up', 'umount up'],
  'a mount elsewhere': ['mount --bind other empty', 'umount empty'],
};

/** Here the root is a mount from the beginning. */
const MOUNTED_CASES: Readonly<Record<string, readonly string[]>> = {
  unmounted: ['umount up/root', 'mount --bind other up/root', 'umount up/root', 'mount --bind other up/root'],
  'unmounted lazily while it is in use': ['umount -l up/root'],
  'unmounted, its place removed and made again': ['umount up/root', 'rm up/root', 'mkdir up/root'],
  'remounted read-only': ['mount -o remount,ro,bind up/root', 'mount -o remount,rw,bind up/root'],
};

const [base = '', mode = ''] = process.argv.slice(2);
const native = mode === 'poll' ? await openNative() : null;

async function observe(name: string, before: readonly string[], steps: readonly string[]): Promise<unknown> {
  const directory = `${base}/${name}`;
  for (const path of TREE) mkdirSync(`${directory}/${path}`, { recursive: true });
  for (const step of before) run(step, directory);
  let changes = 0;
  const mounts: string[] = [];
  const watcher = openRootWatcher({
    declarations: [declare('r', `${directory}/up/root`)],
    patterns: [],
    readProject: () => undefined,
    onChange: () => {
      changes += 1;
    },
    onWarning: () => {},
    onMounts: (all) =>
      mounts.push(...all.map(({ after }) => (after === null ? 'gone' : after.isReadOnly ? 'ro' : 'rw'))),
    ...(native === null ? {} : { mountsChanged: native.mountsChanged, clock: HINTS_ONLY }),
  });
  await watcher.sweep();
  const seen: unknown[] = [];
  for (const step of steps) {
    const isMount = /^u?mount/.test(step);
    const mountsBefore = mounts.length;
    run(step, directory);
    // By poll: it says itself that the mounts have changed. Else by the sweep, after which all is told.
    if (native === null) await watcher.sweep();
    else if (isMount && !step.endsWith('empty')) while (mounts.length === mountsBefore) await sleep(5);
    else await sleep(600);
    if (!isMount) await watcher.sweep();
    const [facts] = watcher.places().roots;
    const which = ['below', 'other', 'elsewhere'].find((entry) => existsSync(`${directory}/up/root/${entry}`));
    seen.push([facts?.available, facts?.available ? (which ?? 'empty') : facts?.unavailable, changes]);
  }
  watcher.close();
  return { seen, mounts };
}

function run(step: string, directory: string): void {
  const [command = '', ...args] = step.split(' ');
  const paths = args.map((arg) =>
    existsSync(`${directory}/${arg}`) || arg.includes('/') ? `${directory}/${arg}` : arg,
  );
  if (command === 'rm') rmTree(paths[0] ?? '');
  else execFileSync(command, paths, { cwd: '/' });
}

function rmTree(path: string): void {
  rmdirSync(`${path}/below`);
  rmdirSync(path);
}

const report: Record<string, unknown> = {};
for (const [name, steps] of Object.entries(CASES)) report[name] = await observe(name, [], steps);
const mounted = ['mount --bind other up/root'];
for (const [name, steps] of Object.entries(MOUNTED_CASES)) report[name] = await observe(name, mounted, steps);
console.log(JSON.stringify(report));
