import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type KernelWalk, kernelWalk } from '../../src/disk/kernel-walk.ts';
import { FakeClock } from '../support/clock.ts';
import { declare, pattern, Watching } from '../support/root-watcher.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => i);
}

/** `rows` directories of `columns` directories each. */
function makeGrid(t: TestContext, rows: number, columns: number): { base: string; paths: readonly string[] } {
  const base = temporaryDirectory(t);
  const paths = range(rows).flatMap((row) => range(columns).map((column) => `${base}/d${row}/r${column}`));
  for (const path of paths) mkdirSync(path, { recursive: true });
  return { base, paths };
}

/** Counts the places looked at, and in how many turns of the event loop. */
function countingWalk() {
  const plain = kernelWalk();
  const seen = { reached: 0, turns: 0, longestTurn: 0 };
  let inTurn = 0;
  const walk: KernelWalk = {
    ...plain,
    reach(path) {
      if (inTurn === 0) void setImmediate().then(endTurn);
      inTurn += 1;
      seen.reached += 1;
      return plain.reach(path);
    },
  };
  function endTurn(): void {
    seen.turns += 1;
    seen.longestTurn = Math.max(seen.longestTurn, inTurn);
    inTurn = 0;
  }
  return { walk, seen };
}

describe('openRootWatcher(), with 10,000 roots and 10,000 patterns,', () => {
  it('looks in slices, knows all when it is ready, and tells nothing before', async (t) => {
    const { base, paths } = makeGrid(t, 100, 100);
    const { walk, seen } = countingWalk();
    const watching = new Watching(t, {
      isPatient: true,
      walk,
      declarations: paths.map((path, i) => declare(`r${i}`, path)),
      patterns: paths.map((path) => pattern(`${path}/secret`)),
    });
    assert.equal(watching.watcher.places().roots.length, 10_000);
    await watching.watcher.ready();
    assert.equal(watching.watcher.places().roots.filter(({ available }) => available).length, 10_000);
    assert.ok(seen.turns > 20 && seen.longestTurn < 5_000, JSON.stringify(seen));
    await watching.watcher.sweep();
    assert.equal(watching.changes, 0);
    const { watched, unwatched, places } = watching.watcher.counts();
    assert.deepEqual({ watched, unwatched, places }, { watched: 10_100, unwatched: 0, places: 20_000 });
    // A hundred at once are one change, or a few: never a hundred.
    rmSync(`${base}/d7`, { recursive: true });
    await watching.until(() => watching.watcher.places().roots.filter(({ available }) => available).length === 9_900);
    assert.ok(watching.changes <= 10, `${watching.changes}`);
  });

  it('takes another policy in slices too, of which the last counts', async (t) => {
    const { paths } = makeGrid(t, 20, 100);
    const watching = new Watching(t, { isPatient: true });
    await watching.watcher.ready();
    const declarations = paths.map((path, i) => declare(`r${i}`, path));
    const first = watching.watcher.update(declarations.slice(0, 1_500), []);
    await setImmediate();
    const second = watching.watcher.update(declarations.slice(1_000), []);
    await Promise.all([first, second]);
    assert.equal(watching.watcher.places().roots.filter(({ available }) => available).length, 1_000);
    assert.equal(watching.changes, 0);
    assert.equal(watching.watcher.counts().places, 1_000);
    await watching.watcher.update(declarations, []);
    assert.equal(watching.watcher.places().roots.filter(({ available }) => available).length, 2_000);
    await watching.watcher.update([], []);
    await watching.watcher.sweep();
    assert.deepEqual([watching.watcher.counts().places, watching.watcher.counts().watched], [0, 0]);
  });
});

describe('A pattern root over 20,000 entries', () => {
  it('is looked through in slices, and members come and go', async (t) => {
    const base = makeTree(t, ['dir all']);
    for (const i of range(10_000)) mkdirSync(`${base}/all/d${i}`);
    for (const i of range(10_000)) writeFileSync(`${base}/all/f${i}`, '');
    for (const i of range(20)) mkdirSync(`${base}/all/d${i}/.git`);
    const { walk, seen } = countingWalk();
    const clock = new FakeClock();
    const declarations = [declare('p', `${base}/all/*`, { having: ['.git'] })];
    const watching = new Watching(t, { isPatient: true, walk, clock, declarations });
    await watching.watcher.ready();
    assert.equal(watching.names().length, 20);
    assert.ok(seen.longestTurn < 5_000, JSON.stringify(seen));
    await watching.watcher.sweep();
    mkdirSync(`${base}/all/d9999/.git`);
    mkdirSync(`${base}/all/new/.git`, { recursive: true });
    rmSync(`${base}/all/d3`, { recursive: true });
    await watching.watcher.sweep();
    await clock.advance(300);
    await watching.watcher.sweep();
    assert.equal(watching.names().length, 21);
    assert.deepEqual(
      ['p/d9999', 'p/new', 'p/d3'].map((name) => watching.names().includes(name)),
      [true, true, false],
    );
    assert.ok(watching.changes <= 2, `${watching.changes}`);
  });
});

describe('Many changes at once', () => {
  it('a branch switch that brings and takes hundreds of roots ends right, with few changes told', async (t) => {
    const base = temporaryDirectory(t);
    const repository = `${base}/repo`;
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', repository, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
        stdio: 'ignore',
      });
    mkdirSync(repository);
    git('init', '-b', 'bare');
    git('commit', '--allow-empty', '-m', 'none');
    git('switch', '-c', 'full');
    for (const i of range(300)) {
      mkdirSync(`${repository}/m${i}/sub`, { recursive: true });
      writeFileSync(`${repository}/m${i}/sub/package.json`, '{}');
    }
    git('add', '.');
    git('commit', '-m', 'all');
    const watching = new Watching(t, {
      isPatient: true,
      declarations: [
        ...range(300).map((i) => declare(`r${i}`, `${repository}/m${i}/sub`)),
        declare('p', `${repository}/*`, { having: ['sub'] }),
      ],
    });
    await watching.watcher.ready();
    const available = () => watching.watcher.places().roots.filter((root) => root.available).length;
    assert.equal(available(), 600);
    for (let round = 0; round < 3; round++) {
      git('switch', 'bare');
      await watching.until(() => available() === 0);
      git('switch', 'full');
      await watching.until(() => available() === 600);
    }
    assert.ok(watching.changes < 300, `${watching.changes} changes told of 3,600`);
    // There and back at once: nothing has changed but which directories these are.
    git('switch', 'bare');
    git('switch', 'full');
    await watching.watcher.sweep();
    await watching.until(() => available() === 600);
  });

  it('an overflow of the kernel’s queue loses hints, and the sweep finds the truth (B121)', async (t) => {
    const { base, paths } = makeGrid(t, 1, 50);
    const declarations = paths.map((path, i) => declare(`r${i}`, path));
    const watching = new Watching(t, { declarations });
    await watching.watcher.sweep();
    // More events than the queue holds, no two alike that follow each other, and all before anybody can read one.
    const capacity = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
    for (const i of range(Math.ceil(capacity / 2) + 1_000)) {
      writeFileSync(`${base}/d0/x${i % 2}`, '');
      rmSync(`${base}/d0/x${i % 2}`);
    }
    for (const i of range(50)) rmSync(`${base}/d0/r${i}`, { recursive: true });
    for (const i of range(25)) mkdirSync(`${base}/d0/r${i}`);
    await watching.until(() => watching.watcher.places().roots.filter((root) => root.available).length === 25);
  });

  it('thousands of saves in a root concern nobody, and those of its project file end with the last', async (t) => {
    const base = makeTree(t, ['dir root']);
    const { walk, seen } = countingWalk();
    const watching = new Watching(t, { walk, declarations: [declare('r', `${base}/root`)] });
    await watching.watcher.sweep();
    seen.reached = 0;
    for (const i of range(3_000)) writeFileSync(`${base}/root/f${i % 100}`, `${i}`);
    for (const i of range(3_000)) {
      writeFileSync(`${base}/root/.rootsd.yaml`, `# ${i}`);
      if (i % 100 === 0) await setImmediate();
    }
    await watching.until(() => watching.root('r').project !== undefined);
    assert.ok(seen.reached < 300, `looked ${seen.reached} times for 6,000 saves`);
    assert.equal(watching.changes, 1);
  });

  it('swapping parent or grandparent is seen by the sweep: one change each, and back', async (t) => {
    const base = makeTree(t, ['dir g/p/root', 'dir other/root', 'dir another/p/root']);
    const watching = new Watching(t, { clock: new FakeClock(), declarations: [declare('r', `${base}/g/p/root`)] });
    await watching.watcher.sweep();
    const identity = () => watching.root('r').place?.identity;
    const before = identity();
    const seen = [before];
    for (const [at, by] of [
      ['g/p', 'other'],
      ['g', 'another'],
    ] as const) {
      for (let swaps = 0; swaps < 2; swaps++) {
        renameSync(`${base}/${at}`, `${base}/away`);
        renameSync(`${base}/${by}`, `${base}/${at}`);
        renameSync(`${base}/away`, `${base}/${by}`);
        await watching.watcher.sweep();
        assert.equal(watching.root('r').available, true);
        seen.push(identity());
      }
    }
    assert.equal(watching.changes, 4);
    assert.deepEqual([seen[2], seen[4], new Set(seen).size], [before, before, 3]);
  });

  it('a directory made anew at once is another one, two hundred times: its inode number is the same', async (t) => {
    const base = makeTree(t, ['dir root']);
    const clock = new FakeClock();
    const watching = new Watching(t, { clock, declarations: [declare('r', `${base}/root`)] });
    await watching.watcher.sweep();
    const identities = new Set([watching.root('r').place?.identity]);
    for (const i of range(200)) {
      rmSync(`${base}/root`, { recursive: true });
      mkdirSync(`${base}/root`);
      await watching.watcher.sweep();
      identities.add(watching.root('r').place?.identity);
      assert.equal(watching.changes, i + 1);
    }
    assert.equal(identities.size, 201);
  });
});
