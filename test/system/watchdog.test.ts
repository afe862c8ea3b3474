import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWatchdog, watchdogPeriodMs } from '../../src/system/watchdog.ts';

test('watchdogPeriodMs() is what the manager asks of this process, or null', () => {
  const rows: readonly (readonly [env: Record<string, string>, periodMs: number | null])[] = [
    [{}, null],
    [{ WATCHDOG_USEC: '60000000' }, 60_000],
    [{ WATCHDOG_USEC: '60000000', WATCHDOG_PID: '7' }, 60_000],
    // Left by a parent of ours, which it was meant for.
    [{ WATCHDOG_USEC: '60000000', WATCHDOG_PID: '8' }, null],
    [{ WATCHDOG_USEC: '0' }, null],
    [{ WATCHDOG_USEC: 'x' }, null],
    [{ WATCHDOG_USEC: '-1' }, null],
  ];
  for (const [env, periodMs] of rows) assert.equal(watchdogPeriodMs(env, 7), periodMs, JSON.stringify(env));
});

test('openWatchdog() says at once that we live, and twice in each period until it is closed', async () => {
  const said = { count: 0, wake: () => {} };
  const alive = () => {
    said.count += 1;
    said.wake();
  };
  const watchdog = openWatchdog({ env: { WATCHDOG_USEC: '20000' }, pid: 7, alive });
  assert.equal(said.count, 1);
  while (said.count < 4) {
    await new Promise<void>((resolve) => {
      said.wake = resolve;
    });
  }
  watchdog.close();
  openWatchdog({ env: {}, pid: 7, alive: () => assert.fail('nobody asks') }).close();
});
