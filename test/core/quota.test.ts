import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Quota } from '../../src/core/quota.ts';

it('Quota lets so many pass in a stretch of time, and counts the rest', () => {
  const quota = new Quota(2, 100);
  const taken = [0, 10, 20, 99, 100, 101, 102, 250].map((nowMs) => quota.take(nowMs));
  assert.deepEqual(taken, [0, 0, null, null, 2, 0, null, 1]);
});
