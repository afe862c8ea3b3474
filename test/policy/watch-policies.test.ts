import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT_SWEEP_SHARE } from '../../src/disk/sweeps.ts';
import { POLICY_SWEEP_SHARE } from '../../src/policy/watch-policies.ts';
import { FakeClock } from '../support/clock.ts';
import { countedHints, HINTS_ONLY, openedWatcher, replace, SWEEP_ONLY } from '../support/policy-watcher.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

test('openPolicyWatcher() tells every one of many saves', async (t) => {
  const base = makeTree(t, ['file p/a.yaml 0']);
  const directory = join(base, 'p');
  const watcher = openedWatcher(t, { directories: [directory], ...HINTS_ONLY });
  for (let i = 1; i <= 10; i++) {
    replace(join(directory, 'a.yaml'), `${i}`);
    assert.equal(await watcher.next(), directory, `save ${i}`);
  }
  assert.deepEqual(watcher.told, []);
});

test('openPolicyWatcher() tells a burst of saves once, after the last', async (t) => {
  const base = makeTree(t, ['file p/a.yaml 0']);
  const path = join(base, 'p/a.yaml');
  const read: string[] = [];
  const watcher = openedWatcher(t, { directories: [join(base, 'p')], ...HINTS_ONLY });
  for (let i = 1; i <= 200; i++) replace(path, `${i}`);
  await watcher.next();
  read.push(readFileSync(path, 'utf8'));
  makeEntry(base, 'file p/b.yaml x');
  await watcher.next();
  assert.deepEqual([read, watcher.told], [['200'], []]);
});

test('openPolicyWatcher() never tells of a file that is empty between truncating and writing', async (t) => {
  const base = makeTree(t, ['file p/a.yaml 0']);
  const path = join(base, 'p/a.yaml');
  const watcher = openedWatcher(t, { directories: [join(base, 'p')], ...HINTS_ONLY });
  for (let i = 1; i <= 8; i++) {
    writeFileSync(path, '');
    await watcher.sweep();
    assert.deepEqual(watcher.told, [], 'it has been seen empty');
    writeFileSync(path, `${i}`);
    await watcher.next();
  }
  assert.deepEqual(watcher.told, []);
});

test('openPolicyWatcher() survives files that come and go while it looks, and tells the last state', async (t) => {
  const base = makeTree(t, ['dir p']);
  const directory = join(base, 'p');
  const names: string[][] = [];
  openedWatcher(t, { directories: [directory], onChange: () => names.push(readdirSync(directory)) });
  for (let i = 0; i < 300; i++) {
    writeFileSync(join(directory, `${i % 7}.yaml`), 'x');
    await sleep(1);
    rmSync(join(directory, `${i % 7}.yaml`));
  }
  writeFileSync(join(directory, 'last.yaml'), 'x');
  while (names.at(-1)?.join() !== 'last.yaml') await sleep(10);
});

test('openPolicyWatcher() names the directory or the file that changed and no other', async (t) => {
  const base = makeTree(t, [
    'file system/a.yaml x',
    'file user/a.yaml x',
    'file conf/rootsd.yaml x',
    'file conf/other x',
  ]);
  const [system = '', user = '', config = ''] = ['system', 'user', 'conf/rootsd.yaml'].map((it) => join(base, it));
  const watcher = openedWatcher(t, { directories: [system, user], files: [config], ...HINTS_ONLY });
  for (const [path, expected] of [
    ['user/a.yaml', user],
    ['system/a.yaml', system],
    ['conf/rootsd.yaml', config],
    ['user/b.yaml', user],
  ] as const) {
    writeFileSync(join(base, 'conf/other'), path);
    replace(join(base, path), 'changed');
    assert.equal(await watcher.next(), expected);
  }
});

test('openPolicyWatcher() sees a directory appear whose parents are missing too', async (t) => {
  const base = makeTree(t, []);
  const directory = join(base, 'config/rootsd/policies.d');
  const watcher = openedWatcher(t, { directories: [directory], ...HINTS_ONLY });
  makeEntry(base, 'dir config');
  makeEntry(base, 'dir config/rootsd');
  makeEntry(base, 'file config/rootsd/policies.d/a.yaml x');
  assert.equal(await watcher.next(), directory);
});

test('sweep() looks at once', async (t) => {
  const base = makeTree(t, ['file p/a.yaml one']);
  const watcher = openedWatcher(t, { directories: [join(base, 'p')], ...SWEEP_ONLY, ...HINTS_ONLY });
  replace(join(base, 'p/a.yaml'), 'two');
  await watcher.sweep();
  assert.equal(await watcher.next(), join(base, 'p'));
});

test('sweep() of a large directory lets others have their turns', async (t) => {
  const directory = manyPolicies(t);
  const watcher = openedWatcher(t, { directories: [directory], ...SWEEP_ONLY, ...HINTS_ONLY });
  let turns = 0;
  const count = () => {
    turns += 1;
    if (turns < 1_000) setImmediate(count);
  };
  setImmediate(count);
  await watcher.sweep();
  assert.ok(turns > 1, `${turns} turns`);
  turns = 1_000;
});

test('openPolicyWatcher() sweeps the later the more a sweep takes: with that of the roots, less than a hundredth', async (t) => {
  assert.ok(1 / POLICY_SWEEP_SHARE + 1 / ROOT_SWEEP_SHARE < 0.01);
  const directory = manyPolicies(t);
  const clock = new FakeClock();
  const { sweep, counts } = openedWatcher(t, { directories: [directory], ...SWEEP_ONLY, clock });
  await sweep();
  const before = counts();
  assert.ok(before.lastSweepMs > 1, `${before.lastSweepMs} ms`);
  await clock.advance(POLICY_SWEEP_SHARE * before.lastSweepMs - 1);
  // One that has begun ends before the next that is asked for.
  await sweep();
  assert.equal(counts().sweeps, before.sweeps + 1);
  await clock.advance(POLICY_SWEEP_SHARE * counts().lastSweepMs + 1);
  await sweep();
  assert.ok(counts().sweeps > before.sweeps + 2);
});

test('retry() names a directory again that could not be read, though nothing has changed', async (t) => {
  const base = makeTree(t, ['file p/a.yaml one']);
  const directory = join(base, 'p');
  const watcher = openedWatcher(t, { directories: [directory], ...SWEEP_ONLY });
  replace(join(directory, 'a.yaml'), 'two');
  await watcher.next();
  watcher.retry(directory);
  assert.equal(await watcher.next(), directory);
});

test('close() ends all, also in onChange()', async (t) => {
  const base = makeTree(t, ['file p/a.yaml one']);
  const directory = join(base, 'p');
  const watcher = openedWatcher(t, { directories: [directory], sweepMs: 20 });
  replace(join(directory, 'a.yaml'), 'two');
  await watcher.next();
  watcher.close();
  replace(join(directory, 'a.yaml'), 'three');
  const other = openedWatcher(t, { directories: [directory], ...SWEEP_ONLY });
  replace(join(directory, 'a.yaml'), 'four');
  await other.next();
  assert.deepEqual(watcher.told, []);
});

test('openPolicyWatcher() takes one watch for each directory and each entry, and gives all back', async (t) => {
  if (process.platform !== 'linux') return t.skip('needs /proc');
  const base = makeTree(t, ['dir p']);
  for (let i = 0; i < 500; i++) writeFileSync(join(base, `p/${i}.yaml`), 'x');
  const before = inotifyWatches();
  const { openHints, hinted } = countedHints();
  const watcher = openedWatcher(t, { directories: [join(base, 'p')], ...HINTS_ONLY, openHints });
  await hinted;
  assert.ok(inotifyWatches() - before <= 502);
  replace(join(base, 'p/250.yaml'), 'changed');
  await watcher.next();
  watcher.close();
  assert.equal(inotifyWatches(), before);
});

test('openPolicyWatcher() that runs out of watches says so once and goes on by the sweep', async (t) => {
  if (process.platform !== 'linux') return t.skip('needs inotify');
  const base = makeTree(t, ['file p/a.yaml one', 'file q/a.yaml one']);
  const module = JSON.stringify(new URL('../../src/policy/watch-policies.ts', import.meta.url).href);
  const program = `
    import { openPolicyWatcher } from ${module};
    import { writeFileSync } from 'node:fs';
    const [p, q] = ${JSON.stringify([join(base, 'p'), join(base, 'q')])};
    const say = (what) => process.stdout.write(JSON.stringify(what) + '\\n');
    const watcher = openPolicyWatcher({
      directories: [p, q],
      sweepMs: 20,
      onWarning: ({ code, message }) => say({ code, message }),
      onChange: (path) => {
        say({ changed: path });
        watcher.close();
      },
    });
    setTimeout(() => writeFileSync(q + '/a.yaml', 'two'), 200);`;
  const limited = `echo 0 > /proc/sys/user/max_inotify_watches && exec "$0" --import tsx --input-type=module --eval "$1"`;
  const child = spawn('unshare', ['--user', '--map-root-user', 'sh', '-c', limited, process.execPath, program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  if (/unshare failed|Permission denied|Read-only/.test(errors)) return t.skip('needs user namespaces');
  assert.equal(status, 0, errors);
  const lines = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(lines.length, 2, output);
  assert.equal(lines[0].code, 'WATCH_LIMIT');
  assert.match(lines[0].message, /the limit fs\.inotify\.max_user_watches is \d+ and used up/);
  assert.deepEqual(lines[1], { changed: join(base, 'q') });
});

/** A directory whose look takes more than a slice. */
function manyPolicies(t: TestContext): string {
  const base = makeTree(t, ['dir p']);
  for (let i = 0; i < 5_000; i++) writeFileSync(join(base, `p/${i}.yaml`), '');
  return join(base, 'p');
}

/** How many inotify watches this process has. */
function inotifyWatches(): number {
  return readdirSync('/proc/self/fdinfo')
    .map((fd) => {
      try {
        return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
      } catch {
        return '';
      }
    })
    .reduce((sum, info) => sum + (info.match(/^inotify /gm)?.length ?? 0), 0);
}
