import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, watch } from 'node:fs';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type KernelWalk, kernelWalk } from '../../src/disk/kernel-walk.ts';
import { FakeClock } from '../support/clock.ts';
import { pattern, Watching } from '../support/root-watcher.ts';
import { makeTree } from '../support/tree.ts';

it('stars over many directories rest after a look, the longer the more of them there are, and are quick when rested', async (t) => {
  const base = makeTree(t, ['dir all']);
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
  const patterns = ['x', 'y', 'z'].map((name) => pattern(`${base}/all/*/${name}`));
  const { watcher } = new Watching(t, { walk, clock, patterns });
  await watcher.sweep();
  const events = watch(`${base}/all`);
  t.after(() => events.close());
  /** An entry comes, and whoever watches has heard of it. */
  const churn = async (name: string) => {
    mkdirSync(`${base}/all/${name}`);
    await once(events, 'change');
    await setImmediate();
    reached = 0;
  };
  const lookedAtAll = async () => {
    while (reached < 150) await setImmediate();
  };
  // Two milliseconds for each of 50 steps and each of 3 patterns.
  await churn('new1');
  await clock.advance(290);
  assert.equal(reached, 0);
  await clock.advance(30);
  await lookedAtAll();
  await clock.advance(400);
  await churn('new2');
  await clock.advance(11);
  await lookedAtAll();
});
