import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resultInSlices, runInSlices, SLICE_MS } from '../../src/disk/slices.ts';

/** Works for about a millisecond a step. */
function* steps(count: number, done: number[]): Generator<void> {
  for (let i = 0; i < count; i++) {
    for (const end = performance.now() + 1; performance.now() < end; );
    done.push(i);
    yield;
  }
}

describe('runInSlices()', () => {
  it('begins at once, lets others run in between, and takes all steps', async () => {
    const done: number[] = [];
    const seen: number[] = [];
    const look = () => {
      seen.push(done.length);
      if (done.length < 40) setImmediate(look);
    };
    const running = runInSlices(steps(40, done), () => false);
    assert.notEqual(done.length, 0);
    look();
    const spentMs = await running;
    assert.equal(done.length, 40);
    assert.ok(spentMs > 0);
    const longest = Math.max(...seen.map((count, i) => count - (seen[i - 1] ?? 0)));
    assert.equal(longest <= SLICE_MS + 1, true, `${longest} steps at a stretch`);
  });

  it('stops when it is cancelled', async () => {
    const done: number[] = [];
    await runInSlices(steps(1_000, done), () => done.length > 10);
    assert.equal(done.length < 20, true);
  });
});

describe('resultInSlices()', () => {
  function* counted(count: number, done: number[]): Generator<void, number> {
    yield* steps(count, done);
    return done.length;
  }

  it('gives what the steps give', async () => {
    assert.deepEqual(await resultInSlices(counted(10, []), () => false), { value: 10 });
  });

  it('gives nothing where it is cancelled', async () => {
    const done: number[] = [];
    assert.equal(await resultInSlices(counted(1_000, done), () => done.length > 10), null);
  });

  it('has what is cancelled close what it has opened', async () => {
    const done: number[] = [];
    let isClosed = false;
    function* opened(): Generator<void, number> {
      try {
        return yield* counted(1_000, done);
      } finally {
        isClosed = true;
      }
    }
    await resultInSlices(opened(), () => done.length > 10);
    assert.equal(isClosed, true);
  });
});
