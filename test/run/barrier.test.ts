import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { LaunchPlan } from '../../src/core/protocol.ts';
import { Barrier } from '../../src/run/barrier.ts';
import { type FakeDaemon, viewOf } from '../support/fake-daemon.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { ASKING_SERVER, type RunHost, useRun } from '../support/run-host.ts';
import { setUpRun } from '../support/run-setup.ts';

const program = useRun();
/** The gate asks for 200; `ROOTSD_ROUNDS=200` runs them. */
const ROUNDS = Number(process.env.ROOTSD_ROUNDS ?? 5);

describe('Barrier', () => {
  const setUp = () => {
    const timer = new ManualTimer();
    const opened: string[] = [];
    return { timer, opened, barrier: new Barrier(timer.after, () => opened.push('opened')) };
  };

  it('opens once the server was answered and had its time', () => {
    const { timer, opened, barrier } = setUp();
    barrier.answered(50);
    assert.equal(barrier.isClosed, false);
    barrier.close();
    timer.advance(300);
    barrier.answered(50);
    timer.advance(49);
    assert.equal(barrier.isClosed, true);
    timer.advance(1);
    assert.deepEqual([barrier.isClosed, opened, timer.pending], [false, ['opened'], []]);
  });

  it('opens after a second at most', () => {
    const { timer, opened, barrier } = setUp();
    barrier.close();
    timer.advance(900);
    barrier.close();
    timer.advance(100);
    assert.deepEqual([barrier.isClosed, opened, timer.pending], [false, ['opened'], []]);
  });

  it('does not count an answer from before the last change', () => {
    const { timer, barrier } = setUp();
    barrier.close();
    barrier.answered(50);
    timer.advance(40);
    barrier.close();
    timer.advance(40);
    assert.equal(barrier.isClosed, true);
    barrier.answered(50);
    timer.advance(50);
    assert.equal(barrier.isClosed, false);
  });
});

/** A host before a server that asks so late, and takes up what it hears so slowly. */
async function setUp(t: TestContext, [late, slow]: [number, number], plan: Partial<LaunchPlan> = {}) {
  const command = [process.execPath, ASKING_SERVER, String(late), String(slow)];
  const setup = await setUpRun(t, program(), { command, plan: { guard: 'off', ...plan } });
  await setup.host.initialize();
  return setup;
}

/** Publishes another list, and calls as soon as `run` has it. */
async function callAfter(daemon: FakeDaemon, host: RunHost, [name, path]: [string, string]): Promise<unknown> {
  await daemon.next('rootsd/ack');
  daemon.publish(viewOf({ [name]: path }, name));
  await daemon.next('rootsd/ack');
  daemon.received.unshift({ method: 'rootsd/ack', params: {} });
  return host.ask('tools/call', { name: 'roots' });
}

describe('rootsd run, a call right after a change', () => {
  const SERVERS: readonly (readonly [string, [number, number]])[] = [
    ['asks at once and is slow to take it up', [0, 20]],
    ['asks 300 ms late', [300, 20]],
  ];
  for (const [what, delays] of SERVERS) {
    it(`waits for a server that ${what}, ${ROUNDS} times`, async (t) => {
      const { daemon, host, base } = await setUp(t, delays);
      for (let round = 0; round < ROUNDS; round += 1) {
        const [name, directory] = [`r${round}`, round % 2 === 0 ? 'b' : 'a'];
        assert.deepEqual(await callAfter(daemon, host, [name, `${base}/${directory}`]), [name]);
      }
    });
  }

  it('waits as long as the catalogue says', async (t) => {
    const { daemon, host, base } = await setUp(t, [0, 200], { barrierMs: 400 });
    assert.deepEqual(await callAfter(daemon, host, ['b', `${base}/b`]), ['b']);
  });

  it('is not held where a server does not ask: a second at most', async (t) => {
    const { daemon, host, base } = await setUp(t, [3_600_000, 0]);
    assert.deepEqual(await callAfter(daemon, host, ['b', `${base}/b`]), []);
  });

  it('is held also where it is long; what names no place is not held', async (t) => {
    const { daemon, host, base } = await setUp(t, [300, 0]);
    await daemon.next('rootsd/ack');
    daemon.publish(viewOf({ b: `${base}/b` }, 'b'));
    await daemon.next('rootsd/ack');
    assert.deepEqual(await host.ask('ping'), {});
    assert.deepEqual(await host.ask('tools/call', { name: 'x', arguments: { content: 'x'.repeat(100_000) } }), ['b']);
  });
});
