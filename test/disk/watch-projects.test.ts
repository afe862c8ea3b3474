import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import type { ProjectFile } from '../../src/core/place.ts';
import { FakeClock } from '../support/clock.ts';
import { declare, Watching } from '../support/root-watcher.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

async function watchProject(t: TestContext, tree: readonly string[]) {
  const base = makeTree(t, tree);
  const clock = new FakeClock();
  const watching = new Watching(t, { clock, declarations: [declare('r', `${base}/root`)] });
  await watching.watcher.sweep();
  return { base, clock, watching, watcher: watching.watcher };
}

describe('The project file of a root', () => {
  it('is read before the watcher opens, once, with the real path of the root', async (t) => {
    const { base, watching, watcher } = await watchProject(t, ['file real/.rootsd.yaml x', 'link root -> real']);
    await watcher.sweep();
    assert.deepEqual(watching.projectReads, [`${base}/real`]);
    assert.equal(watching.root('r').project?.state, 'good');
  });

  it('is read when it appears, changes or is replaced, once it has been the same for 150 ms', async (t) => {
    const { base, clock, watching, watcher } = await watchProject(t, ['dir root']);
    const file = `${base}/root/.rootsd.yaml`;
    const replace = () => {
      writeFileSync(`${file}.new`, 'z');
      renameSync(`${file}.new`, file);
    };
    for (const [i, change] of [() => writeFileSync(file, 'x'), () => writeFileSync(file, 'xy'), replace].entries()) {
      change();
      await watcher.sweep();
      await clock.advance(149);
      assert.equal(watching.projectReads.length, i);
      await clock.advance(1);
      assert.equal(watching.projectReads.length, i + 1);
    }
    rmSync(file);
    await watcher.sweep();
    assert.equal(watching.root('r').project?.state, 'good');
    await clock.advance(150);
    assert.equal(watching.root('r').project, undefined);
    assert.equal(watching.projectReads.length, 3);
    // It came and it went; in between it was read anew and said the same.
    assert.equal(watching.changes, 2);
  });

  it('is read within 2 s though it is rewritten all the time', async (t) => {
    const { base, clock, watching, watcher } = await watchProject(t, ['dir root']);
    for (let i = 0; i < 20; i++) {
      writeFileSync(`${base}/root/.rootsd.yaml`, 'x'.repeat(i));
      await watcher.sweep();
      await clock.advance(100);
    }
    assert.equal(watching.projectReads.length > 0, true);
  });

  it('takes no notice of a save that ends as it began', async (t) => {
    const { base, clock, watching, watcher } = await watchProject(t, ['file root/.rootsd.yaml x']);
    renameSync(`${base}/root/.rootsd.yaml`, `${base}/root/backup`);
    await watcher.sweep();
    await clock.advance(100);
    renameSync(`${base}/root/backup`, `${base}/root/.rootsd.yaml`);
    await watcher.sweep();
    await clock.advance(10_000);
    assert.equal(watching.root('r').project?.state, 'good');
    assert.equal(watching.changes, 0);
  });

  it('stays while the root is missed, and is read anew at once in another directory', async (t) => {
    const { base, clock, watching, watcher } = await watchProject(t, [
      'file root/.rootsd.yaml x',
      'file other/.rootsd.yaml y',
    ]);
    renameSync(`${base}/root`, `${base}/away`);
    await watcher.sweep();
    await clock.advance(200);
    assert.equal(watching.root('r').project?.state, 'good');
    renameSync(`${base}/other`, `${base}/root`);
    await watcher.sweep();
    assert.equal(watching.projectReads.length, 2);
    rmSync(`${base}/root`, { recursive: true });
    await watcher.sweep();
    await clock.advance(300);
    assert.deepEqual([watching.root('r').available, watching.root('r').project], [false, undefined]);
  });

  it('tells a change of what it says, and none where it says the same', async (t) => {
    const base = makeTree(t, ['file root/.rootsd.yaml x']);
    const clock = new FakeClock();
    let ask = false;
    const readProject = (root: string): ProjectFile => ({ state: 'good', file: root, ask, deny: [] });
    const watching = new Watching(t, { clock, declarations: [declare('r', `${base}/root`)], readProject });
    for (const says of [false, true, true]) {
      ask = says;
      makeEntry(base, `file root/.rootsd.yaml ${Math.random()}`);
      await watching.watcher.sweep();
      await clock.advance(150);
    }
    assert.equal(watching.changes, 1);
  });

  it('belongs to directories alone', async (t) => {
    const base = makeTree(t, ['file f x', 'file .rootsd.yaml x']);
    const watching = new Watching(t, {
      clock: new FakeClock(),
      declarations: [declare('f', `${base}/f`, { kind: 'file' })],
    });
    await watching.watcher.sweep();
    assert.deepEqual([watching.root('f').available, watching.projectReads], [true, []]);
  });
});
