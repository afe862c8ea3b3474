import assert from 'node:assert/strict';
import fs, { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type KernelWalk, kernelWalk } from '../../src/disk/kernel-walk.ts';
import { FakeClock, letTick } from '../support/clock.ts';
import { declare, HINTS_ONLY, Watching } from '../support/root-watcher.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

/** Before each listing of a directory. */
function onListing(t: TestContext, before: () => void): void {
  const { opendirSync } = fs;
  fs.opendirSync = (...args) => {
    before();
    return opendirSync(...args);
  };
  syncBuiltinESMExports();
  t.after(() => {
    fs.opendirSync = opendirSync;
    syncBuiltinESMExports();
  });
}

/** How many directories have been listed. */
function countListings(t: TestContext): () => number {
  let count = 0;
  onListing(t, () => {
    count += 1;
  });
  return () => count;
}

function countingWalk() {
  const plain = kernelWalk();
  let count = 0;
  const walk: KernelWalk = {
    ...plain,
    reach(path) {
      count += 1;
      return plain.reach(path);
    },
  };
  return { walk, reached: () => count };
}

describe('A pattern root over many entries, of which one comes or goes,', () => {
  it('looks at that one alone, at once, however long a look at all of them has to rest', async (t) => {
    const base = makeTree(t, ['dir all']);
    for (let i = 0; i < 2_000; i++) mkdirSync(`${base}/all/d${i}`);
    const listed = countListings(t);
    const { walk, reached } = countingWalk();
    const declarations = [declare('p', `${base}/all/*`, { having: ['.git'] })];
    const watching = new Watching(t, { isPatient: true, walk, clock: HINTS_ONLY, declarations });
    await watching.watcher.ready();
    await watching.watcher.sweep();
    const [before, reachedBefore] = [listed(), reached()];
    for (const name of ['new1', 'new2']) {
      makeEntry(base, `dir ${name}/.git`);
      renameSync(`${base}/${name}`, `${base}/all/${name}`);
      await watching.until(() => watching.names().includes(`p/${name}`));
      rmSync(`${base}/all/${name}`, { recursive: true });
      await watching.until(() => !watching.names().includes(`p/${name}`));
    }
    assert.equal(listed(), before);
    // Saves as editors make them: another name first.
    for (let i = 0; i < 2_000; i++) {
      writeFileSync(`${base}/all/.f${i}.tmp`, '');
      renameSync(`${base}/all/.f${i}.tmp`, `${base}/all/f${i}`);
      if (i % 100 === 0) await setImmediate();
    }
    mkdirSync(`${base}/all/d77/.git`);
    await watching.until(() => watching.names().includes('p/d77'));
    // Too many names to look at one by one are a reason to list them, after a rest.
    assert.ok(listed() - before < 20, `listed ${listed() - before} times for 4,000 events`);
    assert.ok(reached() - reachedBefore < 500, `looked ${reached() - reachedBefore} times`);
  });

  it('is listed again by a sweep only where something came or went', async (t) => {
    const base = makeTree(t, ['dir all/a', 'dir all/b']);
    const clock = new FakeClock();
    clock.aheadMs = 3_600_000;
    const listed = countListings(t);
    const watching = new Watching(t, { isPatient: true, clock, declarations: [declare('p', `${base}/all/*`)] });
    await watching.watcher.ready();
    await watching.watcher.sweep();
    const before = listed();
    await watching.watcher.sweep();
    assert.equal(listed(), before);
    letTick(base);
    mkdirSync(`${base}/all/c`);
    await watching.watcher.sweep();
    assert.equal(listed(), before + 1);
    assert.deepEqual(watching.names(), ['p/a', 'p/b', 'p/c']);
  });

  it('is listed again by a sweep where it could not be listed for want of descriptors', async (t) => {
    const base = makeTree(t, ['dir all/a']);
    const clock = new FakeClock();
    clock.aheadMs = 3_600_000;
    let isShort = true;
    onListing(t, () => {
      if (isShort) throw Object.assign(new Error('too many open files'), { code: 'EMFILE', syscall: 'opendir' });
    });
    const watching = new Watching(t, { isPatient: true, clock, declarations: [declare('p', `${base}/all/*`)] });
    await watching.watcher.ready();
    assert.deepEqual(watching.names(), []);
    isShort = false;
    await watching.watcher.sweep();
    assert.deepEqual(watching.names(), ['p/a']);
  });
});
