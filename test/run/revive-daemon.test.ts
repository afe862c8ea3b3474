import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openReviver } from '../../src/run/revive-daemon.ts';

/** The attempts at which a daemon is started, of so many that fail. */
function startsIn(attempts: number, random: number): readonly number[] {
  const starts: number[] = [];
  const now = { attempt: 0 };
  const absent = openReviver({ start: () => starts.push(now.attempt), random: () => random });
  for (now.attempt = 1; now.attempt <= attempts; now.attempt += 1) absent(now.attempt);
  return starts;
}

test('openReviver() gives a daemon that is being restarted its time, then starts one less and less often', () => {
  assert.deepEqual(startsIn(200, 0), [6, 18, 42, 90, 150]);
});

test('openReviver() spreads the starts of many', () => {
  assert.deepEqual(startsIn(12, 0.999), [11]);
});

test('openReviver() begins anew at the next loss', () => {
  let starts = 0;
  const absent = openReviver({ start: () => (starts += 1), random: () => 0 });
  for (let loss = 0; loss < 3; loss += 1) for (let attempt = 1; attempt <= 6; attempt += 1) absent(attempt);
  assert.equal(starts, 3);
});
