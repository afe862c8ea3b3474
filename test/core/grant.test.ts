import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leftMs } from '../../src/core/grant.ts';
import { advanceLasting, lastingFrom, type Moment } from '../../src/core/moment.ts';
import { DAY_MS, grantOf, HOUR_MS, later, START } from '../support/consents.ts';

function leftAt(scope: string, moment: Moment): number | null {
  return leftMs(grantOf({ scope }), { moment, lasting: advanceLasting(lastingFrom(START), moment) });
}

test('leftMs() is null for what ends with its session', () => {
  assert.equal(leftAt('once', later(START, 400 * DAY_MS)), null);
  assert.equal(leftAt('session', later(START, 400 * DAY_MS)), null);
});

test('leftMs() of a time ends with the time, and with the boot', () => {
  assert.equal(leftAt('8h', later(START, HOUR_MS)), 7 * HOUR_MS);
  assert.equal(leftAt('8h', later(START, 8 * HOUR_MS)), 0);
  assert.equal(leftAt('30m', later(START, HOUR_MS)), 0);
  assert.equal(leftAt('8h', { ...later(START, HOUR_MS), boot: 'two' }), 0);
});

test('leftMs() of always ends when it has not been used for 90 days, over boots too', () => {
  const boot = 'two';
  assert.equal(leftAt('always', { ...later(START, 89 * DAY_MS), boot }), DAY_MS);
  assert.equal(leftAt('always', { ...later(START, 90 * DAY_MS), boot }), 0);
});

test('leftMs() of a scope that is none is nothing', () => {
  assert.equal(leftAt('forever', START), 0);
  assert.equal(leftAt('25h', START), 0);
});
