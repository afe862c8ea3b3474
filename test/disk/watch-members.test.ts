import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { patternPath } from '../../src/core/pattern.ts';
import type { RootDeclaration } from '../../src/core/policy.ts';
import { FakeClock } from '../support/clock.ts';
import { declare, Watching } from '../support/root-watcher.ts';
import { makeEntry, makeTree, temporaryDirectory } from '../support/tree.ts';

async function watchMembers(t: TestContext, path: string, more: Partial<RootDeclaration> = {}) {
  const clock = new FakeClock();
  const watching = new Watching(t, { clock, declarations: [declare('p', path, more)] });
  await watching.watcher.sweep();
  return { watching, watcher: watching.watcher, clock };
}

describe('A pattern root', () => {
  it('has one member for each real directory that holds one of `having`, named by it', async (t) => {
    const base = makeTree(t, [
      'dir src/with-git/.git',
      'file src/with-package/package.json {}',
      'file src/worktree/.git gitdir: elsewhere',
      'link src/linked/.git -> nowhere',
      'dir src/.dotted/.git',
      'dir src/neither/deep/.git',
      'file src/file x',
      'dir real/.git',
      'link src/link -> ../real',
      'fifo src/pipe',
    ]);
    const { watching } = await watchMembers(t, `${base}/src/*`, { having: ['.git', 'package.json'] });
    assert.deepEqual(watching.names(), ['p/.dotted', 'p/linked', 'p/with-git', 'p/with-package', 'p/worktree']);
    const { place, written, available } = watching.root('p/with-git');
    assert.deepEqual(
      [place?.path, patternPath(written), written.text, available],
      [`${base}/src/with-git`, `${base}/src/with-git`, `${base}/src/with-git`, true],
    );
    assert.equal(watching.changes, 0);
  });

  it('takes every real directory without `having`, in the order of code points', async (t) => {
    const base = temporaryDirectory(t);
    // In UTF-16 the emoji would come before the private use character.
    const names = ['Z', 'a', 'ä', '\ue000x', '😀', '$&', '10', '9'];
    for (const name of names) mkdirSync(`${base}/src/${name}`, { recursive: true });
    const { watching } = await watchMembers(t, `${base}/src/*`);
    assert.deepEqual(
      watching.names(),
      ['$&', '10', '9', 'Z', 'a', 'ä', '\ue000x', '😀'].map((name) => `p/${name}`),
    );
    assert.equal(watching.root('p/$&').written.text, `${base}/src/$&`);
  });

  it('leaves out names with control or bidi characters with one warning each, and names that are not UTF-8', async (t) => {
    const base = makeTree(t, ['dir src/good', 'dir src/a\u202eb', 'dir src/a\nb']);
    mkdirSync(Buffer.concat([Buffer.from(`${base}/src/raw`), Buffer.from([0xff])]));
    const { watching, watcher } = await watchMembers(t, `${base}/src/*`);
    await watcher.sweep();
    assert.deepEqual(watching.names(), ['p/good']);
    assert.deepEqual(
      watching.warnings.map(({ code }) => code),
      ['ROOT_MEMBER_NAME', 'ROOT_MEMBER_NAME'],
    );
    assert.match(
      watching.warnings
        .map(({ message }) => message)
        .sort()
        .join(),
      /"a\\nb" .*"a\\u202eb" /,
    );
  });

  it('gains and loses members, one change each', async (t) => {
    const base = makeTree(t, ['dir src/a/.git', 'dir src/b']);
    const { watching, watcher, clock } = await watchMembers(t, `${base}/src/*`, { having: ['.git'] });
    const steps: readonly (readonly [change: () => void, names: readonly string[]])[] = [
      [() => makeEntry(base, 'dir src/b/.git'), ['p/a', 'p/b']],
      [() => makeEntry(base, 'dir src/c/.git'), ['p/a', 'p/b', 'p/c']],
      [() => rmSync(`${base}/src/a`, { recursive: true }), ['p/b', 'p/c']],
      [() => rmSync(`${base}/src/b/.git`, { recursive: true }), ['p/c']],
      [() => renameSync(`${base}/src/c`, `${base}/src/d`), ['p/d']],
      [() => renameSync(`${base}/src`, `${base}/away`), []],
      [() => renameSync(`${base}/away`, `${base}/src`), ['p/d']],
    ];
    for (const [i, [change, names]] of steps.entries()) {
      change();
      await watcher.sweep();
      await clock.advance(300);
      assert.deepEqual(watching.names(), names, `step ${i}`);
    }
    // A rename is two: the new one at once, the old one when it is still absent after 300 ms.
    assert.equal(watching.changes, steps.length + 1);
  });

  it('drops a member at once that becomes a link or a file', async (t) => {
    const base = makeTree(t, ['dir src/a', 'dir src/b', 'dir real']);
    const { watching, watcher } = await watchMembers(t, `${base}/src/*`);
    rmSync(`${base}/src/a`, { recursive: true });
    symlinkSync('../real', `${base}/src/a`);
    rmSync(`${base}/src/b`, { recursive: true });
    writeFileSync(`${base}/src/b`, '');
    await watcher.sweep();
    assert.deepEqual(watching.names(), []);
    assert.equal(watching.changes, 1);
    await watcher.sweep();
    assert.equal(watcher.counts().places, 1);
  });

  it('follows a link on the way to it, and is one place with what is written', async (t) => {
    const base = makeTree(t, ['dir v1/a', 'dir v2/a', 'dir v2/b', 'link src -> v1']);
    const { watching, watcher } = await watchMembers(t, `${base}/src/*`);
    assert.equal(watching.root('p/a').place?.path, `${base}/v1/a`);
    rmSync(`${base}/src`);
    symlinkSync('v2', `${base}/src`);
    await watcher.sweep();
    assert.deepEqual(watching.names(), ['p/a', 'p/b']);
    assert.equal(watching.root('p/a').place?.path, `${base}/v2/a`);
    assert.equal(patternPath(watching.root('p/a').written), `${base}/src/a`);
    assert.equal(watching.changes, 1);
  });

  it('is empty while its directory is missing', async (t) => {
    const base = makeTree(t, ['file f x']);
    for (const path of ['no', 'f']) {
      const { watching } = await watchMembers(t, `${base}/${path}/*`);
      assert.deepEqual(watching.names(), []);
    }
  });
});
