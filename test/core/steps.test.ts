import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runAtOnce } from '../../src/core/steps.ts';

it('runAtOnce() takes all steps and gives their result', () => {
  function* sum(): Generator<void, number> {
    let all = 0;
    for (const one of [1, 2, 3]) {
      all += one;
      yield;
    }
    return all;
  }
  assert.equal(runAtOnce(sum()), 6);
});
