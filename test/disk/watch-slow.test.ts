import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import type { RootWatcherOptions } from '../../src/disk/watch-roots.ts';
import { childrenOf } from '../support/children.ts';
import { mountLine } from '../support/mount-line.ts';
import { needsMounts, runWithPrivateMounts } from '../support/private-mounts.ts';
import { declare, pattern, Watching } from '../support/root-watcher.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

const UNASKED = 'lies on a file system that may not answer';
const SILENT = 'lies on a file system that does not answer';

/** A watcher on a machine where `net` of the tree is said to be a mount that may hang. */
function watchSlow(t: TestContext, base: string, options: Partial<RootWatcherOptions>): Watching {
  const mountInfo = `${base}/mountinfo`;
  writeFileSync(mountInfo, ['1 0 / ext4', `2 1 ${base}/net nfs4`].map(mountLine).join(''));
  return new Watching(t, { isPatient: true, mountInfo, ...options });
}

describe('openRootWatcher(), for places on mounts that may hang,', () => {
  it('knows nothing before the helper has looked, and all after: roots, links that lead there, members', async (t) => {
    const base = makeTree(t, [
      'dir net/a',
      'file net/f x',
      'file net/p/one/.git x',
      'dir net/p/two',
      'link l -> net/a',
      'dir local',
    ]);
    const watching = watchSlow(t, base, {
      declarations: [
        declare('a', `${base}/net/a`),
        declare('f', `${base}/net/f`),
        declare('l', `${base}/l`),
        declare('p', `${base}/net/p/*`, { having: ['.git'] }),
        declare('no', `${base}/net/none`),
        declare('local', `${base}/local`),
      ],
    });
    assert.match(watching.root('l').unavailable, /^has not been looked at yet$|may not answer$/);
    assert.equal(watching.root('l').available, false);
    await watching.watcher.ready();
    assert.equal(watching.root('a').available, true);
    await watching.until(() => watching.names().includes('p/one') && watching.root('no').unavailable !== UNASKED);
    const seen = watching.watcher
      .places()
      .roots.map(({ name, place, unavailable }) => [name, place?.path, unavailable]);
    assert.deepEqual(seen, [
      ['a', `${base}/net/a`, ''],
      ['f', `${base}/net/f`, 'is not a directory'],
      ['l', `${base}/net/a`, ''],
      ['p/one', `${base}/net/p/one`, ''],
      ['no', undefined, 'does not exist'],
      ['local', `${base}/local`, ''],
    ]);
  });

  it('follows what changes there by its sweep, with no watch there', async (t) => {
    const base = makeTree(t, ['dir net/a', 'link net/other -> a', 'dir x']);
    const watching = watchSlow(t, base, {
      declarations: [declare('r', `${base}/net/a`), declare('l', `${base}/net/other`)],
      patterns: [pattern(`${base}/net/a/*`), pattern(`${base}/net/other`)],
    });
    await watching.watcher.ready();
    assert.deepEqual([watching.root('r').available, watching.root('l').available], [true, true]);
    assert.deepEqual(watching.resolved(), { [`${base}/net/other`]: [`${base}/net/a`] });
    assert.equal(watching.watcher.counts().watched, 0);
    makeEntry(base, 'file net/a/.rootsd.yaml x');
    symlinkSync('../../x', `${base}/net/a/in`);
    await watching.watcher.sweep();
    await watching.until(
      () => watching.root('r').project !== undefined && Object.keys(watching.resolved()).length === 2,
    );
    assert.deepEqual(watching.resolved(), {
      [`${base}/net/a/*`]: [`${base}/x`],
      [`${base}/net/other`]: [`${base}/net/a`],
    });
    renameSync(`${base}/net/a`, `${base}/net/b`);
    await watching.watcher.sweep();
    await watching.until(() => !watching.root('r').available && !watching.root('l').available);
    mkdirSync(`${base}/net/a`);
    await watching.watcher.sweep();
    await watching.until(() => watching.root('r').available);
    assert.equal(watching.root('r').project, undefined);
  });

  it('withdraws them when the helper hangs, and no others', async (t) => {
    const base = makeTree(t, ['dir net/a', 'dir local']);
    const watching = watchSlow(t, base, {
      declarations: [declare('a', `${base}/net/a`), declare('local', `${base}/local`)],
    });
    await watching.watcher.ready();
    assert.equal(watching.root('a').available, true);
    const [helper] = childrenOf(process.pid).slice(-1);
    assert.ok(helper);
    process.kill(helper, 'SIGSTOP');
    await watching.until(() => watching.root('a').unavailable === SILENT);
    rmSync(`${base}/local`, { recursive: true });
    await watching.until(() => !watching.root('local').available);
    await watching.until(() => watching.root('a').available);
  });

  it('never touches a file system that hangs: a real one', { skip: needsMounts() }, (t) => {
    const base = makeTree(t, [
      'dir hangs',
      'dir local',
      'link l -> hangs/deep',
      'dir all/x',
      'link all/y -> ../hangs/y',
    ]);
    const report = runWithPrivateMounts<readonly unknown[]>('./hang-mount.ts', [base]);
    const hanging = { direct: SILENT, link: SILENT, 'members/x': '', local: '' };
    assert.deepEqual(report, [hanging, { ...hanging, local: 'does not exist' }, 'unmounted', true]);
  });
});
