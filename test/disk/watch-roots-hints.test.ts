import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import type { RootWatcherOptions } from '../../src/disk/watch-roots.ts';
import { needsRoot, runAsNobody } from '../support/nobody.ts';
import { declare, HINTS_ONLY, pattern, Watching } from '../support/root-watcher.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

/** A watcher that sweeps once and then lives on what the kernel tells it. */
async function watchByHints(t: TestContext, options: Partial<RootWatcherOptions>): Promise<Watching> {
  const watching = new Watching(t, { clock: HINTS_ONLY, ...options });
  await watching.watcher.sweep();
  return watching;
}

function retarget(link: string, target: string): void {
  symlinkSync(target, `${link}.new`);
  renameSync(`${link}.new`, link);
}

describe('openRootWatcher(), by hints alone,', () => {
  it('sees a root deleted and made again, every time', async (t) => {
    const base = makeTree(t, ['dir root']);
    const watching = await watchByHints(t, { declarations: [declare('r', `${base}/root`)] });
    for (let round = 0; round < 3; round++) {
      rmSync(`${base}/root`, { recursive: true });
      await watching.nextChange();
      assert.equal(watching.root('r').available, false);
      mkdirSync(`${base}/root`);
      await watching.nextChange();
      assert.equal(watching.root('r').available, true);
    }
    assert.equal(watching.changes, 6);
  });

  it('sees a root replaced at once, and what happens to the new one', async (t) => {
    const base = makeTree(t, ['dir root', 'dir other']);
    const watching = await watchByHints(t, { declarations: [declare('r', `${base}/root`)] });
    renameSync(`${base}/root`, `${base}/old`);
    renameSync(`${base}/other`, `${base}/root`);
    await watching.nextChange();
    makeEntry(base, 'file root/.rootsd.yaml x');
    await watching.nextChange();
    assert.equal(watching.root('r').project?.state, 'good');
    rmSync(`${base}/root`, { recursive: true });
    await watching.nextChange();
    assert.equal(watching.root('r').available, false);
    assert.equal(watching.changes, 3);
  });

  it('goes with the name, not the inode, when the directory above is another one after a sweep', async (t) => {
    const base = makeTree(t, ['file up/f one', 'file f two']);
    const watching = await watchByHints(t, { declarations: [declare('r', `${base}/up/f`, { kind: 'file' })] });
    renameSync(`${base}/up`, `${base}/old`);
    mkdirSync(`${base}/up`);
    renameSync(`${base}/old/f`, `${base}/up/f`);
    await watching.watcher.sweep();
    renameSync(`${base}/f`, `${base}/up/f`);
    await watching.nextChange();
    assert.equal(watching.changes, 1);
  });

  it('sees a file in place of the directory', async (t) => {
    const base = makeTree(t, ['dir root']);
    const watching = await watchByHints(t, { declarations: [declare('r', `${base}/root`)] });
    rmSync(`${base}/root`, { recursive: true });
    writeFileSync(`${base}/root`, '');
    await watching.nextChange();
    assert.equal(watching.root('r').unavailable, 'is not a directory');
  });

  it('sees any hop of a chain of links set anew, and forgets where it led before', async (t) => {
    const base = makeTree(t, [
      'dir d1/v1',
      'dir d2/v2',
      'link a/one -> ../b/two',
      'link b/two -> ../c/three',
      'link c/three -> ../d1/v1',
    ]);
    const watching = await watchByHints(t, { declarations: [declare('r', `${base}/a/one`)] });
    const { watched } = watching.watcher.counts();
    const hops: readonly (readonly [link: string, target: string])[] = [
      ['c/three', '../d2/v2'],
      ['b/two', '../d1/v1'],
      ['a/one', '../d2/v2'],
    ];
    for (const [link, target] of hops) {
      retarget(`${base}/${link}`, target);
      await watching.nextChange();
      assert.equal(watching.root('r').place?.path, `${base}/${target.slice(3)}`);
    }
    assert.equal(watching.changes, 3);
    // One link less on the way, then two: a watch less each time.
    assert.deepEqual([watched, watching.watcher.counts().watched], [5, 3]);
  });

  it('sees a root appear whose parents were missing too', async (t) => {
    const base = makeTree(t, []);
    const declarations = [declare('r', `${base}/a/b/c`), declare('a', `${base}/a`)];
    const watching = await watchByHints(t, { declarations });
    mkdirSync(`${base}/a`);
    await watching.nextChange();
    mkdirSync(`${base}/a/b/c`, { recursive: true });
    await watching.nextChange();
    assert.deepEqual([watching.root('r').available, watching.changes], [true, 2]);
  });

  it('sees members come and go', async (t) => {
    const base = makeTree(t, ['dir src/a/.git']);
    const watching = await watchByHints(t, {
      declarations: [declare('p', `${base}/src/*`, { having: ['.git', 'package.json'] })],
    });
    assert.deepEqual(watching.names(), ['p/a']);
    const { watched } = watching.watcher.counts();
    mkdirSync(`${base}/src/b`);
    await eventually(() => watching.watcher.counts().places === 3);
    await eventually(() => watching.watcher.counts().watched === watched + 1);
    writeFileSync(`${base}/src/b/package.json`, '{}');
    await watching.until(() => watching.names().length === 2);
    assert.deepEqual(watching.names(), ['p/a', 'p/b']);
    rmSync(`${base}/src/a`, { recursive: true });
    await watching.until(() => watching.names().length === 1);
    assert.deepEqual(watching.names(), ['p/b']);
    assert.equal(watching.changes, 2);
  });

  it('sees the project file of a root come, change and go', async (t) => {
    const base = makeTree(t, ['dir root']);
    const watching = await watchByHints(t, { declarations: [declare('r', `${base}/root`)] });
    makeEntry(base, 'file root/.rootsd.yaml one');
    await watching.nextChange();
    assert.equal(watching.projectReads.length, 1);
    unlinkSync(`${base}/root/.rootsd.yaml`);
    await watching.nextChange();
    assert.equal(watching.root('r').project, undefined);
  });

  it('sees a denied link set anew, and a denied directory that becomes a link', async (t) => {
    const base = makeTree(t, ['dir v1', 'dir v2', 'link secret -> v1', 'dir plain', 'dir all/x']);
    const patterns = [pattern(`${base}/secret`), pattern(`${base}/plain`), pattern(`${base}/all/*`)];
    const watching = await watchByHints(t, { patterns });
    retarget(`${base}/secret`, 'v2');
    await watching.nextChange();
    rmSync(`${base}/plain`, { recursive: true });
    symlinkSync('v1', `${base}/plain`);
    await watching.nextChange();
    symlinkSync('../v1', `${base}/all/y`);
    await watching.nextChange();
    assert.deepEqual(watching.resolved(), {
      [`${base}/secret`]: [`${base}/v2`],
      [`${base}/plain`]: [`${base}/v1`],
      [`${base}/all/*`]: [`${base}/v1`],
    });
    assert.equal(watching.changes, 3);
  });

  it('takes two watches for a root, however much lies in it, and shares those on parents (B113)', async (t) => {
    const names = Array.from({ length: 20 }, (_, i) => `r${i}`);
    const base = makeTree(
      t,
      names.flatMap((name) => [`dir ${name}/a/b/c`, `dir ${name}/d`]),
    );
    const watching = await watchByHints(t, { declarations: names.map((name) => declare(name, `${base}/${name}`)) });
    assert.deepEqual(
      { ...watching.watcher.counts(), sweeps: 0, lastSweepMs: 0 },
      {
        places: 20,
        watched: 21,
        unwatched: 0,
        slow: 0,
        abandoned: 0,
        sweeps: 0,
        lastSweepMs: 0,
      },
    );
  });

  it('lives by its sweep where watches run out, with one warning that names the limit (B113, B114)', {
    skip: needsUserNamespace(),
  }, (t) => {
    const script = 'echo 3 > /proc/sys/user/max_inotify_watches && exec "$@"';
    const output = runAsNobody(t, './exhaust-watches.ts', ['unshare', '-Ur', 'sh', '-c', script, 'sh']);
    const { warnings, changes, watched, unwatched } = JSON.parse(output);
    assert.deepEqual([watched, unwatched], [3, 9_998]);
    // The directory of them all is watched: what its events tell of is told with what the sweep has found until then.
    assert.ok(changes >= 1 && changes <= 100, `${changes}`);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /the limit fs\.inotify\.max_user_watches is \d+ and used up/);
  });
});

/** For what no event tells of; the test's time limit ends it. */
async function eventually(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

function needsUserNamespace(): string | false {
  if (needsRoot) return needsRoot;
  return spawnSync('unshare', ['-Ur', 'true']).status === 0 ? false : 'needs user namespaces (unshare)';
}
