import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LongWork } from '../../../src/run/guard/long-work.ts';

interface Setup {
  readonly work: LongWork<string>;
  /** How many steps have been taken. */
  readonly steps: () => number;
  /** The result of so many steps for a line. */
  readonly ask: (line: string, count: number, result?: string) => string;
  /** Resolves when who waits may ask again. */
  readonly done: () => Promise<void>;
}

function setUp(): Setup {
  let steps = 0;
  let wake = (): void => undefined;
  const work = new LongWork<string>(() => wake());
  function* count(to: number, result: string): Generator<void, string> {
    for (let i = 0; i < to; i++) {
      steps += 1;
      yield;
    }
    return result;
  }
  return {
    work,
    steps: () => steps,
    ask: (line, to, result = `of ${line}`) => work.do(Buffer.from(line), () => count(to, result)),
    done: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
  };
}

describe('LongWork', () => {
  it('has the result at once where few steps lead to it', () => {
    const { ask, steps } = setUp();
    assert.deepEqual([ask('a', 200), ask('a', 200), steps()], ['of a', 'of a', 400]);
  });

  it('goes on beside everything else where it takes longer, and keeps the result for the line', async () => {
    const { ask, steps, done, work } = setUp();
    const isDone = done();
    let turns = 0;
    const count = setInterval(() => {
      turns += 1;
    }, 0);
    assert.deepEqual([ask('a', 3_000_000), ask('a', 3_000_000)], ['wait', 'wait']);
    assert.ok(steps() < 3_000_000, 'it has not been done at once');
    await isDone;
    clearInterval(count);
    assert.ok(turns > 0, 'others had their turn');
    assert.deepEqual([ask('a', 1), ask('a', 1), ask('b', 1), steps()], ['of a', 'of a', 'of b', 3_000_001]);
    work.forgetTaken();
    assert.equal(ask('a', 1, 'anew'), 'anew');
  });

  it('does several at once', async () => {
    const { ask, done } = setUp();
    const lines = ['a', 'b', 'c'];
    assert.deepEqual(
      lines.map((line) => ask(line, 1_000)),
      ['wait', 'wait', 'wait'],
    );
    while (lines.map((line) => ask(line, 1_000)).join() !== 'of a,of b,of c') await done();
  });

  it('keeps no result that is to wait', async () => {
    const { ask } = setUp();
    assert.equal(ask('a', 1_000, 'wait'), 'wait');
    while (ask('a', 1_000, 'later') === 'wait') await new Promise((resolve) => setImmediate(resolve));
  });

  it('lets go of what holds no more, and has it asked for anew', async () => {
    const { ask, done, work, steps } = setUp();
    assert.equal(ask('a', 3_000_000), 'wait');
    const asked = done();
    work.drop();
    await asked;
    assert.ok(steps() < 3_000_000);
    assert.equal(ask('a', 1, 'anew'), 'anew');
  });

  it('keeps no more results that nobody comes for than a few', async () => {
    const { ask, steps } = setUp();
    for (let i = 0; i < 20; i++) {
      ask(String(i), 1_000);
      while (ask(String(i), 1_000) === 'wait') await new Promise((resolve) => setImmediate(resolve));
    }
    const before = steps();
    ask('0', 1);
    assert.equal(steps(), before + 1, 'the first has been let go');
    ask('19', 1);
    assert.equal(steps(), before + 1);
  });
});
