import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type FSWatcher, mkdirSync, renameSync, rmSync, symlinkSync, watch } from 'node:fs';
import { it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type KernelWalk, kernelWalk } from '../../src/disk/kernel-walk.ts';
import { FakeClock } from '../support/clock.ts';
import { pattern, Watching } from '../support/root-watcher.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

/** Three stars over fifty directories that are reached through a link, and how many places have been looked at since. */
async function watchStars(t: TestContext) {
  const base = makeTree(t, ['dir all', 'link way -> all']);
  for (let i = 0; i < 50; i += 1) mkdirSync(`${base}/all/d${i}`);
  const plain = kernelWalk();
  let reached = 0;
  const walk: KernelWalk = {
    ...plain,
    reach(path) {
      reached += 1;
      return plain.reach(path);
    },
  };
  const clock = new FakeClock();
  const patterns = ['x', 'y', 'z'].map((name) => pattern(`${base}/way/*/${name}`));
  const watching = new Watching(t, { walk, clock, patterns });
  await watching.watcher.sweep();
  const events = [watch(base), watch(`${base}/all`)] as const;
  t.after(() => {
    for (const watcher of events) watcher.close();
  });
  /** Something is changed there, and whoever watches has heard of all of it. */
  const churn = async (where: FSWatcher, last: string, change: () => void) => {
    change();
    for (let name: unknown; name !== last; ) [, name] = await once(where, 'change');
    await setImmediate();
    reached = 0;
  };
  return {
    base,
    clock,
    watching,
    reached: () => reached,
    changeWay: () =>
      churn(events[0], 'way', () => {
        symlinkSync('all', `${base}/new`);
        renameSync(`${base}/new`, `${base}/way`);
      }),
    changeEntries: (last: string, change: () => void) => churn(events[1], last, change),
    until: async (count: number) => {
      while (reached < count) await setImmediate();
    },
  };
}

it('stars over many directories rest after a look, the longer the more of them there are, and are quick when rested', async (t) => {
  const { clock, changeWay, reached, until } = await watchStars(t);
  // Two milliseconds for each of 50 steps and each of 3 patterns.
  await changeWay();
  await clock.advance(290);
  assert.equal(reached(), 0);
  await clock.advance(30);
  await until(150);
  await clock.advance(400);
  await changeWay();
  await clock.advance(11);
  await until(150);
});

it('what comes into a directory with a star is looked at alone, at once; many entries rest too', async (t) => {
  const { base, clock, changeEntries, reached, until, watching } = await watchStars(t);
  await changeEntries('new', () => makeEntry(base, 'link all/new -> ../elsewhere'));
  await clock.advance(11);
  assert.deepEqual(watching.resolved()[`${base}/way/*/x`], [`${base}/all/*/x`, `${base}/elsewhere/x`]);
  assert.equal(reached() < 20, true, `${reached()}`);
  await clock.advance(100);
  await changeEntries('e99', () => {
    rmSync(`${base}/all/new`);
    for (let i = 0; i < 100; i += 1) mkdirSync(`${base}/all/e${i}`);
  });
  await clock.advance(11);
  // Two for each, since there is nothing of that name in it.
  await until(606);
  assert.deepEqual(watching.resolved()[`${base}/way/*/x`], [`${base}/all/*/x`]);
  // Five milliseconds for each of 101 entries and each of 3 patterns.
  await changeEntries('last', () => mkdirSync(`${base}/all/last`));
  await clock.advance(1_480);
  assert.equal(reached(), 0);
  await clock.advance(60);
  await until(3);
});
