import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { advanceLasting, hasPassed, lastingFrom, type Moment, remainingMs } from '../../src/core/moment.ts';
import { DAY_MS, HOUR_MS, later, START } from '../support/consents.ts';

describe('hasPassed()', () => {
  const rows: readonly [says: string, now: Moment, passed: boolean][] = [
    ['not before', later(START, HOUR_MS - 1), false],
    ['when it has', later(START, HOUR_MS), true],
    ['although the wall clock was set back', { ...later(START, HOUR_MS), wallMs: START.wallMs - DAY_MS }, true],
    ['not early where it was set back', { ...later(START, 1), wallMs: START.wallMs - DAY_MS }, false],
    ['where the wall clock was set forward', { ...later(START, 1), wallMs: START.wallMs + DAY_MS }, true],
    ['where it is another boot, whatever the wall clock says', { ...later(START, 1), boot: 'two' }, true],
    ['where the clock of the boot went backwards', { ...later(START, 1), bootMs: START.bootMs - 1 }, true],
  ];
  for (const [says, now, passed] of rows) {
    it(says, () => assert.equal(hasPassed(START, HOUR_MS, now), passed));
  }
});

describe('remainingMs()', () => {
  it('never grows, whatever is done to the wall clock and however often the machine starts', () => {
    const steps = fc.array(
      fc.record({ passed: fc.nat(HOUR_MS), set: fc.integer({ min: -DAY_MS, max: DAY_MS }), boots: fc.boolean() }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        let now = START;
        let trulyPassed = 0;
        for (const { passed, set, boots } of all) {
          trulyPassed += passed;
          const bootMs = boots ? passed : now.bootMs + passed;
          now = { wallMs: now.wallMs + passed + set, boot: boots ? `${now.boot}+` : now.boot, bootMs };
          const left = remainingMs(START, 2 * HOUR_MS, now);
          assert.ok(left <= Math.max(0, 2 * HOUR_MS - trulyPassed), `${left} are left after ${trulyPassed}`);
        }
      }),
    );
  });
});

describe('advanceLasting()', () => {
  it('goes on with the wall clock, and by what has passed where that was set back', () => {
    const start = lastingFrom(START);
    assert.equal(advanceLasting(start, later(START, DAY_MS)).ms, START.wallMs + DAY_MS);
    const back = { ...later(START, HOUR_MS), wallMs: START.wallMs - DAY_MS };
    const held = advanceLasting(start, back);
    assert.equal(held.ms, START.wallMs + HOUR_MS);
    assert.equal(advanceLasting(held, later(back, HOUR_MS)).ms, START.wallMs + 2 * HOUR_MS);
    const booted = { wallMs: START.wallMs - DAY_MS, boot: 'two', bootMs: 5 };
    assert.equal(advanceLasting(held, booted).ms, held.ms);
  });
});
