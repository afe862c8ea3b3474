import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Moment } from '../../src/core/moment.ts';
import { lastingFrom } from '../../src/core/moment.ts';
import { EndingRules } from '../../src/daemon/ending-rules.ts';
import { LastingClock } from '../../src/daemon/lasting-clock.ts';
import { FakeClock } from '../support/clock.ts';
import { DAY_MS, HOUR_MS, later, MINUTE_MS, START } from '../support/consents.ts';
import { evidenceFrom, layerFrom } from '../support/policy.ts';

const SECOND_MS = 1_000;

/** Rules that end so long after the start, and clocks that go on by themselves and that a test sets. */
function ending(t: TestContext, leftMs: readonly number[], kept: LastingClock | null = null, moment = START) {
  const clock = new FakeClock();
  const machine: { moment: Moment } = { moment };
  const last = kept?.now().lasting ?? null;
  const time = new LastingClock(() => later(machine.moment, clock.now()), last);
  const rules = leftMs.map((ms, i) => `{ id: r${i}, allow: [a], until: "${at(ms)}" }`);
  const { policy } = evidenceFrom([layerFrom(`roots: { a: { path: ~/a } }\nrules: [${rules.join(', ')}]`)]);
  const count = { changes: 0, kept: 0 };
  const decide = () => subject.decided({ policy, nowMs: subject.nowMs() });
  const subject = new EndingRules({
    clock,
    knownMs: () => time.knownMs(),
    onChange: () => {
      count.changes += 1;
      decide();
    },
    keepTime: () => {
      count.kept += 1;
    },
  });
  t.after(() => subject.close());
  decide();
  return { subject, time, machine, count, pass: (ms: number) => clock.advance(ms) };
}

function at(leftMs: number): string {
  return new Date(START.wallMs + leftMs).toISOString().replace('.000Z', 'Z');
}

test('everybody is told at the moment at which a rule ends, once for each', async (t) => {
  const { count, pass } = ending(t, [HOUR_MS, 2 * HOUR_MS, 2 * HOUR_MS]);
  await pass(HOUR_MS - 1);
  assert.equal(count.changes, 0);
  await pass(1);
  assert.equal(count.changes, 1);
  await pass(HOUR_MS);
  assert.equal(count.changes, 2);
  await pass(DAY_MS);
  assert.equal(count.changes, 2);
});

test('nothing is looked at where no rule ends, and nothing is written', async (t) => {
  const { count, pass, subject } = ending(t, []);
  await pass(DAY_MS);
  subject.close();
  assert.deepEqual(count, { changes: 0, kept: 0 });
});

test('a suspended machine, whose timers stand still, hears of it within a second of its waking', async (t) => {
  const { machine, pass, count } = ending(t, [HOUR_MS]);
  machine.moment = later(machine.moment, 2 * HOUR_MS);
  await pass(SECOND_MS);
  assert.equal(count.changes, 1);
});

test('a clock that is set back makes none last longer, one that is set forward ends it', async (t) => {
  const back = ending(t, [HOUR_MS]);
  back.machine.moment = { ...back.machine.moment, wallMs: START.wallMs - DAY_MS };
  await back.pass(HOUR_MS);
  assert.equal(back.count.changes, 1);
  const forward = ending(t, [HOUR_MS]);
  forward.machine.moment = { ...forward.machine.moment, wallMs: START.wallMs + HOUR_MS };
  await forward.pass(SECOND_MS);
  assert.equal(forward.count.changes, 1);
  forward.machine.moment = { ...forward.machine.moment, wallMs: START.wallMs };
  await forward.pass(DAY_MS);
  assert.equal(forward.count.changes, 1, 'what has ended stays so');
});

test('the end holds over a restart and over another boot', async (t) => {
  const { time, pass, count } = ending(t, [HOUR_MS]);
  await pass(HOUR_MS / 2);
  const again = ending(t, [HOUR_MS], time, later(START, HOUR_MS / 2));
  await again.pass(HOUR_MS / 2);
  assert.deepEqual([again.count.changes, count.changes], [1, 0]);
  const booted: Moment = { wallMs: START.wallMs + 59 * MINUTE_MS, boot: 'two', bootMs: 5 };
  const other = ending(t, [HOUR_MS], time, booted);
  assert.equal(other.subject.nowMs(), booted.wallMs);
  await other.pass(MINUTE_MS);
  assert.equal(other.count.changes, 1);
});

test('after a boot with an earlier clock all that end have ended, until the clock is right again', async (t) => {
  const { time, pass } = ending(t, [HOUR_MS]);
  await pass(HOUR_MS / 2);
  const booted: Moment = { wallMs: START.wallMs, boot: 'two', bootMs: 5 };
  const { subject, machine, pass: wait, count } = ending(t, [HOUR_MS], time, booted);
  assert.equal(subject.nowMs(), Number.POSITIVE_INFINITY);
  await wait(MINUTE_MS);
  assert.equal(count.changes, 0);
  machine.moment = { ...booted, wallMs: START.wallMs + 40 * MINUTE_MS };
  await wait(SECOND_MS);
  assert.deepEqual([count.changes, Number.isFinite(subject.nowMs())], [1, true]);
});

test('the time is written down at first, each hour and at the end, as long as a rule ends', async (t) => {
  const { count, pass, subject } = ending(t, [DAY_MS * 3]);
  assert.equal(count.kept, 1);
  await pass(3 * HOUR_MS);
  assert.equal(count.kept, 4);
  subject.close();
  assert.equal(count.kept, 5);
});

test('LastingClock goes on where the wall clock is set back, and by what was written down', () => {
  const machine: { moment: Moment } = { moment: START };
  const clock = new LastingClock(() => machine.moment, null);
  machine.moment = { ...later(START, HOUR_MS), wallMs: START.wallMs - DAY_MS };
  assert.equal(clock.knownMs(), START.wallMs + HOUR_MS);
  const sameBoot = new LastingClock(() => machine.moment, lastingFrom(START));
  assert.equal(sameBoot.knownMs(), START.wallMs + HOUR_MS, 'the clock of the boot says how long it was');
});
