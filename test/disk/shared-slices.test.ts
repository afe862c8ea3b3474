import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedSlices } from '../../src/disk/shared-slices.ts';
import { SLICE_MS } from '../../src/disk/slices.ts';

const never = () => false;

/** Works for about a millisecond a step. */
function* steps(count: number, done: unknown[]): Generator<void> {
  for (let i = 0; i < count; i++) {
    for (const end = performance.now() + 1; performance.now() < end; );
    done.push(i);
    yield;
  }
}

describe('SharedSlices', () => {
  it('gives all together one slice between two turns of the others', async () => {
    const slices = new SharedSlices();
    const done: unknown[] = [];
    const seen: number[] = [];
    let isOver = false;
    const look = () => {
      seen.push(done.length);
      if (!isOver) setImmediate(look);
    };
    const running = Promise.all([1, 2, 3, 4].map(() => slices.run(steps(10, done), never)));
    look();
    await running;
    isOver = true;
    assert.equal(done.length, 40);
    const longest = Math.max(...seen.map((count, i) => count - (seen[i - 1] ?? 0)));
    assert.ok(longest <= SLICE_MS + 1, `${longest} steps at a stretch`);
  });

  it('takes what is short at once, and does not let it wait for what is long', async () => {
    const slices = new SharedSlices();
    const order: string[] = [];
    function* short(): Generator<void> {
      order.push('short');
      yield;
    }
    const first = slices.run(short(), never);
    assert.deepEqual(order, ['short']);
    await first;
    const long = slices.run(steps(100, []), never).then(() => order.push('long'));
    await slices.run(short(), never);
    await long;
    assert.deepEqual(order, ['short', 'short', 'long']);
  });

  it('throws what the steps throw, stops where they are cancelled, and goes on with the others', async () => {
    const slices = new SharedSlices();
    const [done, cancelled]: [unknown[], unknown[]] = [[], []];
    function* failing(): Generator<void> {
      yield;
      throw new RangeError('no');
    }
    await Promise.all([
      assert.rejects(slices.run(failing(), never), RangeError),
      slices.run(steps(1_000, cancelled), () => cancelled.length > 3),
      slices.run(steps(5, done), never),
    ]);
    assert.equal(done.length, 5);
    assert.ok(cancelled.length < 20, `${cancelled.length} steps`);
  });
});
