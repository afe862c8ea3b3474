import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sortInSteps } from '../../src/core/sort-in-steps.ts';
import { runAtOnce } from '../../src/core/steps.ts';

interface Entry {
  readonly key: number;
  readonly at: number;
}

const byKey = (a: Entry, b: Entry) => a.key - b.key;

test('sortInSteps() sorts as toSorted() does, and keeps the order of equals', () => {
  const keys = fc.array(fc.nat({ max: 50 }), { maxLength: 1_500, size: 'max' });
  fc.assert(
    fc.property(keys, (given) => {
      const values = given.map((key, at) => ({ key, at }));
      assert.deepEqual(runAtOnce(sortInSteps(values, byKey)), values.toSorted(byKey));
    }),
    { numRuns: 50 },
  );
});

test('sortInSteps() compares at most a few thousand times between two steps', () => {
  const values = Array.from({ length: 20_000 }, (_, at) => (at * 7_919) % 20_000);
  let compared = 0;
  const steps = sortInSteps(values, (a, b) => {
    compared += 1;
    return a - b;
  });
  for (let step = steps.next(); !step.done; step = steps.next()) {
    assert.ok(compared < 5_000, `${compared}`);
    compared = 0;
  }
});
