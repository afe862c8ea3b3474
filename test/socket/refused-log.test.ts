import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOG_EVENTS } from '../../src/core/log-event.ts';
import { RefusedLog } from '../../src/socket/refused-log.ts';
import { FakeClock } from '../support/clock.ts';

function opened() {
  const clock = new FakeClock();
  const lines: unknown[] = [];
  const log = new RefusedLog({ log: (_level, _event, fields) => lines.push(fields), event: LOG_EVENTS.refused, clock });
  const refuse = (uid: number | undefined, times: number) => {
    for (let i = 0; i < times; i++) log.of(uid)('warn', LOG_EVENTS.refused, { uid });
  };
  return { clock, log, refuse, said: () => lines.splice(0) };
}

test('RefusedLog says each of the first five in a minute of a user, and counts the rest', async () => {
  const { clock, refuse, said } = opened();
  refuse(7, 1_000);
  refuse(8, 1);
  refuse(undefined, 6);
  const five = (uid: number | undefined) => Array.from({ length: 5 }, () => ({ uid }));
  assert.deepEqual(said(), [...five(7), { uid: 8 }, ...five(undefined)]);
  await clock.advance(60_000);
  assert.deepEqual(said(), [
    { uid: 7, left: 995 },
    { uid: 'unknown', left: 1 },
  ]);
  refuse(7, 1);
  assert.deepEqual(said(), [{ uid: 7 }]);
});

test('RefusedLog says at its end what it has left out', () => {
  const { log, refuse, said } = opened();
  refuse(7, 6);
  said();
  log.close();
  assert.deepEqual(said(), [{ uid: 7, left: 1 }]);
});

test('RefusedLog has few lines however many users come', async () => {
  const { clock, log, refuse, said } = opened();
  for (let uid = 0; uid < 10_000; uid++) refuse(uid, 1);
  assert.equal(said().length, 32 + 5);
  await clock.advance(60_000);
  assert.deepEqual(said(), [{ uid: 'others', left: 10_000 - 37 }]);
  log.close();
  assert.deepEqual(said(), []);
});
