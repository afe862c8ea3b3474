import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { FakeClock, letTick } from '../support/clock.ts';
import { declare, Watching } from '../support/root-watcher.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

/** A watcher for which everything happened an hour ago, and that hears of no event: its sweeps alone see what changes. */
async function watchCalm(t: TestContext, base: string, path: string, having?: readonly string[]) {
  const clock = new FakeClock();
  clock.aheadMs = 3_600_000;
  const declarations = [declare('r', `${base}/${path}`, having === undefined ? {} : { having })];
  const watching = new Watching(t, { isPatient: true, clock, declarations });
  await watching.watcher.ready();
  await watching.watcher.sweep();
  assert.equal(watching.watcher.places().roots[0]?.available, true);
  letTick(base);
  return { clock, watching };
}

describe('A root in which nothing has happened for long', () => {
  const rows: readonly (readonly [what: string, change: (base: string) => void, seen: readonly unknown[]])[] = [
    ['a project file comes', (base) => makeEntry(base, 'file up/root/.rootsd.yaml x'), [true, '', 'good']],
    ['it is replaced', (base) => replace(base, 'up/root'), [true, '', undefined]],
    ['its parent is replaced', (base) => replace(base, 'up', 'dir up/root'), [true, '', undefined]],
    ['it is deleted', (base) => rmSync(`${base}/up/root`, { recursive: true }), [true, '', undefined]],
    [
      'it becomes a file',
      (base) => replace(base, 'up/root', 'file up/root x'),
      [false, 'is not a directory', undefined],
    ],
    ['it becomes a link to itself', (base) => moveBehindLink(base, 'up', 'root'), [true, '', undefined]],
    ['its parent becomes a link to itself', (base) => moveBehindLink(base, '.', 'up'), [true, '', undefined]],
  ];
  for (const [what, change, seen] of rows) {
    it(`is looked at again when ${what}`, async (t) => {
      const base = makeTree(t, ['dir up/root']);
      const { clock, watching } = await watchCalm(t, base, 'up/root');
      const before = watching.root('r').place;
      change(base);
      await watching.watcher.sweep();
      // What is written may not be whole yet.
      await clock.advance(200);
      await watching.watcher.sweep();
      const { available, unavailable, project, place } = watching.root('r');
      assert.deepEqual([available, unavailable, project?.state], seen);
      const isSame = place?.identity === before?.identity && place?.path === before?.path;
      assert.equal(isSame, what === 'it is deleted' || what === 'a project file comes');
    });
  }

  it('is looked at again when it holds what a member must no more', async (t) => {
    const base = makeTree(t, ['dir all/m/.git']);
    const { watching } = await watchCalm(t, base, 'all/*', ['.git']);
    rmSync(`${base}/all/m/.git`, { recursive: true });
    await watching.watcher.sweep();
    mkdirSync(`${base}/all/m/.git`);
    await watching.watcher.sweep();
    assert.equal(watching.root('r/m').available, true);
  });
});

function replace(base: string, name: string, ...entries: readonly string[]): void {
  renameSync(`${base}/${name}`, `${base}/old`);
  for (const entry of entries.length === 0 ? [`dir ${name}`] : entries) makeEntry(base, entry);
}

function moveBehindLink(base: string, directory: string, name: string): void {
  renameSync(`${base}/${directory}/${name}`, `${base}/${directory}/moved`);
  symlinkSync('moved', `${base}/${directory}/${name}`);
}
