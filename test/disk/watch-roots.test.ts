import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { errnoFailure } from '../../src/disk/failure.ts';
import { identityOf } from '../../src/disk/identity.ts';
import { type KernelWalk, kernelWalk } from '../../src/disk/kernel-walk.ts';
import { ROOT_SWEEP_SHARE } from '../../src/disk/sweeps.ts';
import type { RootWatcherOptions } from '../../src/disk/watch-roots.ts';
import { FakeClock } from '../support/clock.ts';
import { needsRoot, runAsNobody } from '../support/nobody.ts';
import { declare, Watching } from '../support/root-watcher.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

/** A watcher whose time stands still, after its first sweep. */
async function watchStill(t: TestContext, options: Partial<RootWatcherOptions>) {
  const clock = new FakeClock();
  const watching = new Watching(t, { clock, ...options });
  await watching.watcher.sweep();
  return { watching, watcher: watching.watcher, clock };
}

/** Replaces a link as careful programs do. */
function retarget(link: string, target: string): void {
  symlinkSync(target, `${link}.new`);
  renameSync(`${link}.new`, link);
}

describe('openRootWatcher()', () => {
  it('knows every root before it returns: where it is, what it is, why it is not there', (t) => {
    const base = makeTree(t, ['dir real/sub', 'file f text', 'fifo pipe', 'link alias -> real', 'link loop -> loop']);
    const rows: readonly (readonly [path: string, kind: 'directory' | 'file', place: string | null, why: string])[] = [
      ['/real', 'directory', '/real', ''],
      ['/alias/sub', 'directory', '/real/sub', ''],
      ['/f', 'file', '/f', ''],
      ['/f', 'directory', '/f', 'is not a directory'],
      ['/real', 'file', '/real', 'is not a regular file'],
      ['/pipe', 'file', '/pipe', 'is not a regular file'],
      ['/pipe', 'directory', '/pipe', 'is not a directory'],
      ['/missing', 'directory', null, 'does not exist'],
      ['/loop', 'directory', null, 'goes through a loop of links, too many of them, or a magic link of /proc'],
      ['/f/x', 'directory', null, 'goes on below something that is not a directory'],
    ];
    const declarations = rows.map(([path, kind], i) => declare(`r${i}`, base + path, { kind }));
    const watching = new Watching(t, { declarations });
    for (const [i, [path, , place, why]] of rows.entries()) {
      const root = watching.root(`r${i}`);
      assert.equal(root.place?.path ?? null, place === null ? null : base + place, path);
      assert.equal(root.unavailable, why, path);
      assert.equal(root.available, why === '', path);
      assert.equal(root.declaration, declarations[i]);
      if (root.place !== null) assert.match(root.place.identity, /^\d+:\d+:\d+$/);
    }
    assert.equal(watching.changes, 0);
  });

  it('tells nothing when nothing changes', async (t) => {
    const base = makeTree(t, ['dir a', 'link l -> a', 'dir p/m', 'file a/.rootsd.yaml x']);
    const declarations = [
      declare('a', `${base}/a`),
      declare('l', `${base}/l`),
      declare('p', `${base}/p/*`),
      declare('no', `${base}/no`),
    ];
    const { watching, watcher, clock } = await watchStill(t, {
      declarations,
      patterns: declarations.map(({ path }) => path),
    });
    const before = watcher.places();
    for (let i = 0; i < 3; i++) await watcher.sweep();
    makeEntry(base, 'file a/other text');
    await clock.advance(60_000);
    assert.equal(watching.changes, 0);
    assert.equal(watcher.places(), before);
  });

  it('withdraws a root that is still absent after 300 ms, restores it when it is back: one change each (B109, B112)', async (t) => {
    const base = makeTree(t, ['dir root']);
    const { watching, watcher, clock } = await watchStill(t, { declarations: [declare('r', `${base}/root`)] });
    const identities = new Set([watching.root('r').place?.identity]);
    for (let round = 0; round < 10; round++) {
      rmSync(`${base}/root`, { recursive: true });
      await watcher.sweep();
      await clock.advance(299);
      assert.equal(watching.root('r').available, true);
      assert.equal(watching.changes, 2 * round);
      await clock.advance(1);
      assert.deepEqual([watching.root('r').available, watching.root('r').place], [false, null]);
      assert.equal(watching.changes, 2 * round + 1);
      mkdirSync(`${base}/root`);
      await watcher.sweep();
      assert.equal(watching.root('r').available, true);
      assert.equal(watching.changes, 2 * round + 2);
      identities.add(watching.root('r').place?.identity);
    }
    assert.equal(identities.size, 11);
  });

  it('takes no notice of an absence shorter than 300 ms (B119)', async (t) => {
    const base = makeTree(t, ['dir root']);
    const { watching, watcher, clock } = await watchStill(t, { declarations: [declare('r', `${base}/root`)] });
    renameSync(`${base}/root`, `${base}/away`);
    await watcher.sweep();
    await clock.advance(299);
    renameSync(`${base}/away`, `${base}/root`);
    await watcher.sweep();
    await clock.advance(10_000);
    assert.equal(watching.changes, 0);
    assert.equal(watching.root('r').available, true);
  });

  it('takes a device or a file server that does not answer for an absence, other errors for a no (B119)', async (t) => {
    const base = makeTree(t, ['dir root']);
    const plain = kernelWalk();
    for (const [errno, stands] of [
      ['EIO', true],
      ['ESTALE', true],
      ['ENOENT', true],
      ['EACCES', false],
      ['EPERM', false],
    ] as const) {
      let broken = false;
      const walk: KernelWalk = { ...plain, reach: (path) => (broken ? errnoFailure(errno) : plain.reach(path)) };
      const { watching, watcher, clock } = await watchStill(t, { walk, declarations: [declare('r', `${base}/root`)] });
      broken = true;
      await watcher.sweep();
      assert.equal(watching.root('r').available, stands, errno);
      await clock.advance(300);
      assert.deepEqual([watching.root('r').available, watching.changes], [false, 1], errno);
    }
  });

  it('tells once when a directory is replaced by another of the same name', async (t) => {
    const base = makeTree(t, ['dir root', 'dir other']);
    const { watching, watcher } = await watchStill(t, { declarations: [declare('r', `${base}/root`)] });
    const before = watching.root('r').place;
    renameSync(`${base}/root`, `${base}/old`);
    renameSync(`${base}/other`, `${base}/root`);
    await watcher.sweep();
    assert.equal(watching.changes, 1);
    const after = watching.root('r').place;
    assert.equal(after?.path, before?.path);
    assert.notEqual(after?.identity, before?.identity);
    assert.equal(watching.root('r').available, true);
  });

  it('withdraws at once what is turned into a file or into a loop of links', async (t) => {
    const base = makeTree(t, ['dir a', 'dir b']);
    const { watching, watcher } = await watchStill(t, {
      declarations: [declare('a', `${base}/a`), declare('b', `${base}/b`)],
    });
    rmSync(`${base}/a`, { recursive: true });
    writeFileSync(`${base}/a`, '');
    await watcher.sweep();
    assert.deepEqual([watching.root('a').available, watching.root('a').unavailable], [false, 'is not a directory']);
    rmSync(`${base}/b`, { recursive: true });
    symlinkSync('b', `${base}/b`);
    await watcher.sweep();
    assert.equal(watching.root('b').available, false);
    assert.equal(watching.changes, 2);
  });

  it('follows a link to its new target, whichever hop of the chain is set anew (B101, B104)', async (t) => {
    const base = makeTree(t, [
      'dir v1',
      'dir v2',
      'link a/one -> ../b/two',
      'link b/two -> ../c/three',
      'link c/three -> ../v1',
    ]);
    const { watching, watcher } = await watchStill(t, { declarations: [declare('r', `${base}/a/one`)] });
    const hops: readonly (readonly [link: string, target: string, place: string])[] = [
      ['c/three', '../v2', 'v2'],
      ['b/two', '../v1', 'v1'],
      ['a/one', '../v2', 'v2'],
    ];
    for (const [i, [link, target, place]] of hops.entries()) {
      retarget(`${base}/${link}`, target);
      await watcher.sweep();
      assert.equal(watching.root('r').place?.path, `${base}/${place}`);
      assert.equal(watching.changes, i + 1);
    }
  });

  it('sees by its sweep that an ancestor is renamed, and comes back', async (t) => {
    const base = makeTree(t, ['dir up/parent/root']);
    const { watching, watcher, clock } = await watchStill(t, {
      declarations: [declare('r', `${base}/up/parent/root`)],
    });
    renameSync(`${base}/up`, `${base}/down`);
    await clock.advance(2_000);
    await clock.advance(300);
    assert.equal(watching.root('r').available, false);
    renameSync(`${base}/down`, `${base}/up`);
    await watcher.sweep();
    assert.equal(watching.root('r').available, true);
    assert.equal(watching.changes, 2);
  });

  it('withdraws at once a root that cannot be read any more, and restores it', { skip: needsRoot }, (t) => {
    const shut = [false, 'cannot be looked at: permission denied', 1];
    const open = [true, '', 2];
    // The root itself, a directory above it, a member of a pattern root.
    const all = [shut, open, shut, open, shut, open];
    assert.deepEqual(JSON.parse(runAsNobody(t, './lose-permission.ts')), [...all, ...all]);
  });

  it('serves the others while one is missing (B082)', async (t) => {
    const base = makeTree(t, ['dir a']);
    const { watching, watcher } = await watchStill(t, {
      declarations: [declare('a', `${base}/a`), declare('b', `${base}/b/c`)],
    });
    assert.deepEqual(
      watching.watcher.places().roots.map(({ available }) => available),
      [true, false],
    );
    mkdirSync(`${base}/b/c`, { recursive: true });
    await watcher.sweep();
    assert.deepEqual(
      watching.watcher.places().roots.map(({ available }) => available),
      [true, true],
    );
    assert.equal(watching.changes, 1);
  });

  it('takes on another policy: keeps what it knows, looks at what is new at once, forgets the rest', async (t) => {
    const base = makeTree(t, ['dir a', 'dir b', 'dir p/x', 'dir p/y']);
    const a = declare('a', `${base}/a`);
    const { watching, watcher, clock } = await watchStill(t, { declarations: [a, declare('p', `${base}/p/*`)] });
    rmSync(`${base}/a`, { recursive: true });
    await watcher.sweep();
    const renamed = declare('a2', `${base}/a`);
    watcher.update([renamed, declare('b', `${base}/b`)], []);
    assert.deepEqual(watching.names(), ['a2', 'b']);
    assert.equal(watching.root('a2').declaration, renamed);
    assert.equal(watching.root('a2').available, true, 'its 300 ms go on');
    assert.equal(watching.root('b').available, true);
    assert.equal(watching.changes, 0);
    await clock.advance(300);
    assert.equal(watching.root('a2').available, false);
    assert.equal(watching.changes, 1);
    await watcher.sweep();
    assert.equal(watcher.counts().places, 2);
    watcher.update([], []);
    assert.deepEqual(watcher.counts(), { ...watcher.counts(), places: 0, watched: 0, unwatched: 0 });
  });

  it('sweeps on its own every two seconds, and no more once it is closed', async (t) => {
    const base = makeTree(t, ['dir a']);
    const { watching, watcher, clock } = await watchStill(t, { declarations: [declare('a', `${base}/a`)] });
    const { sweeps } = watcher.counts();
    // More than 2 s apart only where a sweep takes long, as it may on a busy machine.
    await clock.advance(100_000);
    assert.equal(watcher.counts().sweeps >= sweeps + 4, true);
    watcher.close();
    rmSync(`${base}/a`, { recursive: true });
    await clock.advance(10_000);
    await watcher.sweep();
    assert.equal(watching.changes, 0);
  });

  it('takes less than a hundredth of the processor for its sweeps, however slow the disk is (B083)', async (t) => {
    const plain = kernelWalk();
    const reach = (path: string) => {
      // What others do on this machine does not count.
      for (const before = process.cpuUsage(); process.cpuUsage(before).user < 20_000; );
      return plain.reach(path);
    };
    const declarations = [declare('r', '/nowhere/at/all')];
    const { watcher, clock } = await watchStill(t, { walk: { ...plain, reach }, declarations });
    await watcher.sweep();
    const before = watcher.counts();
    await clock.advance(ROOT_SWEEP_SHARE * before.lastSweepMs - 1);
    // One that has begun ends before the next that is asked for.
    await watcher.sweep();
    assert.equal(watcher.counts().sweeps, before.sweeps + 1);
    const { sweeps, lastSweepMs } = watcher.counts();
    await clock.advance(ROOT_SWEEP_SHARE * lastSweepMs + 1);
    await watcher.sweep();
    assert.equal(watcher.counts().sweeps > sweeps + 1, true);
  });

  it('survives a root that comes and goes all the time, and knows in the end how it is (B123)', async (t) => {
    const base = makeTree(t, ['dir root']);
    const watching = new Watching(t, { declarations: [declare('r', `${base}/root`)] });
    for (let i = 0; i < 200; i++) {
      rmSync(`${base}/root`, { recursive: true });
      makeEntry(base, 'file root/.rootsd.yaml x');
      makeEntry(base, 'dir root/a/b');
      await new Promise((resolve) => setImmediate(resolve));
    }
    const identity = identityOf(statSync(`${base}/root`, { bigint: true }));
    await watching.until(() => watching.root('r').place?.identity === identity);
    assert.equal(watching.root('r').available, true);
    rmSync(`${base}/root`, { recursive: true });
    await watching.until(() => !watching.root('r').available);
  });
});
