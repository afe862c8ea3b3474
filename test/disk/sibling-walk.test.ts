import assert from 'node:assert/strict';
import { renameSync, symlinkSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type KernelWalk, kernelWalk } from '../../src/disk/kernel-walk.ts';
import { siblingWalk } from '../../src/disk/sibling-walk.ts';
import { makeTree } from '../support/tree.ts';

/** What is walked by the kernel in one go. */
function counted(mayTouch: (path: string) => boolean = () => true) {
  const plain = kernelWalk();
  const walked: string[] = [];
  const counting: KernelWalk = {
    ...plain,
    reach(path) {
      walked.push(path);
      return plain.reach(path);
    },
  };
  return { walked, plain, walk: siblingWalk(counting, mayTouch) };
}

describe('siblingWalk()', () => {
  it('says of every entry what the kernel’s own walk says, and walks once to those without links', (t) => {
    const base = makeTree(t, [
      'dir d/a',
      'dir d/b',
      'file d/f x',
      'link d/l -> a',
      'link d/none -> nowhere',
      'link up -> d',
    ]);
    const { walk, walked, plain } = counted();
    const paths = ['a', 'b', 'f', 'l', 'none', 'gone', '.', '..', 'a/', 'b//'].map((name) => `${base}/d/${name}`);
    for (const path of [...paths, `${base}/up/a`, `${base}/up/b`]) {
      const [ours, kernels] = [walk.reach(path), plain.reach(path)];
      assert.deepEqual(
        ours.ok ? [ours.path, ours.stat.ino] : ours,
        kernels.ok ? [kernels.path, kernels.stat.ino] : kernels,
        path,
      );
    }
    const spared = [...paths, `${base}/up/a`, `${base}/up/b`].filter((path) => !walked.includes(path));
    assert.deepEqual(spared, [`${base}/d/b`, `${base}/d/f`]);
  });

  it('relies on a way no longer than nothing else happens', async (t) => {
    const base = makeTree(t, ['dir d/a', 'dir d/b']);
    const { walk } = counted();
    walk.reach(`${base}/d/a`);
    await Promise.resolve();
    renameSync(`${base}/d`, `${base}/moved`);
    symlinkSync('moved', `${base}/d`);
    const reached = walk.reach(`${base}/d/b`);
    assert.equal(reached.ok && reached.path, `${base}/moved/b`);
  });

  it('touches nothing itself that may hang', (t) => {
    const base = makeTree(t, ['dir d/a', 'dir d/b']);
    const { walk, walked } = counted((path) => !path.endsWith('/b'));
    for (const name of ['a', 'b']) walk.reach(`${base}/d/${name}`);
    assert.deepEqual(walked, [`${base}/d/a`, `${base}/d/b`]);
  });
});
