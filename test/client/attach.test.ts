import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type Attachment, type AttachOptions, attach } from '../../src/client/attach.ts';
import { LostConnection, RefusedRequest } from '../../src/client/connection.ts';
import type { ViewMessage } from '../../src/core/protocol.ts';
import { FakeDaemon, viewOf } from '../support/fake-daemon.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { temporaryDirectory } from '../support/tree.ts';

interface Attached {
  readonly daemon: FakeDaemon;
  readonly attachment: Attachment;
  readonly timer: ManualTimer;
  /** The next view that is published. */
  readonly next: () => Promise<ViewMessage>;
  readonly views: readonly ViewMessage[];
}

async function setUp(t: TestContext, options: Partial<AttachOptions> = {}): Promise<Attached> {
  const daemon = await FakeDaemon.start(t, temporaryDirectory(t), viewOf({ a: '/a' }));
  const timer = new ManualTimer();
  const views: ViewMessage[] = [];
  const waiting: ((view: ViewMessage) => void)[] = [];
  const attachment = await attach({
    sockets: () => [daemon.socket],
    params: { version: 1, server: 's' },
    onView: (view) => {
      views.push(view);
      waiting.shift()?.(view);
    },
    timer: timer.after,
    ...options,
  });
  t.after(() => attachment.close());
  return { daemon, attachment, timer, views, next: () => new Promise((resolve) => waiting.push(resolve)) };
}

/** Waits for the loss to be seen: the retry is pending then. */
async function lost({ attachment }: Attached): Promise<void> {
  while (attachment.connected) await new Promise((resolve) => setImmediate(resolve));
}

/** Moves the clock by small steps until the attachment is back. */
async function back({ attachment, timer }: Attached): Promise<void> {
  while (!attachment.connected) {
    timer.advance(50);
    for (let i = 0; i < 20 && !attachment.connected; i++) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Lets the clock go on, and the answers to what is asked then arrive. */
async function ping({ daemon, timer }: Attached): Promise<void> {
  timer.advance(PING_MS);
  await daemon.next('ping');
}

const PING_MS = 10_000;
const DEADLINE_MS = 5_000;
const namesIn = ({ roots }: ViewMessage): readonly string[] => roots.map(({ name }) => name);

describe('attach()', () => {
  it('has the result and the view when it resolves', async (t) => {
    const { attachment, daemon, views } = await setUp(t);
    assert.equal(attachment.result.peer.server, 's');
    assert.deepEqual(namesIn(attachment.view), ['a']);
    assert.equal(attachment.socketPath, daemon.socket);
    assert.deepEqual(views, []);
  });

  it('takes the first socket where a daemon answers', async (t) => {
    const dead = `${temporaryDirectory(t)}/dead.sock`;
    const base = temporaryDirectory(t);
    const daemon = await FakeDaemon.start(t, base, viewOf({}));
    const attachment = await attach({
      sockets: () => [dead, daemon.socket],
      params: { version: 1, server: null },
      onView: () => assert.fail('there is no view to tell'),
    });
    attachment.close();
    await assert.rejects(
      attach({
        sockets: () => [dead],
        params: { version: 1, server: null },
        onView: () => assert.fail('there is no view to tell'),
      }),
      LostConnection,
    );
    await assert.rejects(
      attach({
        sockets: () => [],
        params: { version: 1, server: null },
        onView: () => assert.fail('there is no view to tell'),
      }),
      LostConnection,
    );
  });

  it('rejects with the reason where the daemon refuses', async (t) => {
    const daemon = await FakeDaemon.start(t, temporaryDirectory(t), viewOf({}));
    daemon.refusal = { code: -32603, message: 'two fit', data: { code: 'PEER_AMBIGUOUS' } };
    await assert.rejects(
      attach({
        sockets: () => [daemon.socket],
        params: { version: 1, server: null },
        onView: () => assert.fail('there is no view to tell'),
      }),
      (error) => error instanceof RefusedRequest && error.code === 'PEER_AMBIGUOUS',
    );
  });
});

describe('Attachment', () => {
  it('publishes each view of the daemon, and acknowledges', async (t) => {
    const { daemon, attachment, next } = await setUp(t);
    const view = next();
    daemon.publish(viewOf({ b: '/b' }, '02'));
    assert.deepEqual(namesIn(await view), ['b']);
    assert.deepEqual(namesIn(attachment.view), ['b']);
    attachment.ack(attachment.view);
    assert.deepEqual((await daemon.next('rootsd/ack')).params, { generation: '02', serial: 2 });
  });

  it('keeps its view for 30 s without a daemon, and not a moment longer', async (t) => {
    const setup = await setUp(t);
    const { daemon, attachment, timer, views } = setup;
    daemon.stop();
    await lost(setup);
    timer.advance(29_999);
    assert.deepEqual([namesIn(attachment.view), views.length], [['a'], 0]);
    timer.advance(1);
    assert.deepEqual([attachment.view.roots, attachment.view.boundary, views.length], [[], [], 1]);
  });

  it('counts the 30 s from the first loss, however often it tries', async (t) => {
    const setup = await setUp(t);
    const { daemon, attachment, timer } = setup;
    daemon.stop();
    await lost(setup);
    for (let ms = 0; ms < 30_000; ms += 500) {
      timer.advance(500);
      for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(attachment.view.roots, []);
  });

  it('tries again after a part of a pause that is left to chance, so that many do not come at once', async (t) => {
    const pauses: number[][] = [];
    for (const chance of [0, 0.8]) {
      const setup = await setUp(t, { random: () => chance });
      const { daemon, timer } = setup;
      daemon.stop();
      await lost(setup);
      const seen: number[] = [];
      while (seen.length < 7) {
        const [pause = 0] = timer.pending.filter((ms) => ms <= 1_000);
        seen.push(pause);
        timer.advance(pause);
        while (!timer.pending.some((ms) => ms <= 1_000)) await new Promise((resolve) => setImmediate(resolve));
      }
      pauses.push(seen.map(Math.round));
    }
    assert.deepEqual(pauses, [
      [50, 100, 200, 400, 800, 1_000, 1_000],
      [30, 60, 120, 240, 480, 600, 600],
    ]);
  });

  it('says how often nobody has answered, but not where somebody refuses', async (t) => {
    const absent: number[] = [];
    const setup = await setUp(t, { onAbsent: (failed) => absent.push(failed) });
    const { daemon, attachment, timer } = setup;
    daemon.stop();
    await lost(setup);
    while (absent.length < 3) {
      timer.advance(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(absent, [1, 2, 3]);
    daemon.refusal = { code: -32603, message: 'two fit', data: { code: 'PEER_AMBIGUOUS' } };
    await daemon.listen();
    while (attachment.refusal === null) {
      timer.advance(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(absent.length < 6, `${absent}`);
  });

  it('comes back by itself with what the daemon says then, also after its view was dropped', async (t) => {
    const setup = await setUp(t);
    const { daemon, attachment, timer, next } = setup;
    daemon.stop();
    await lost(setup);
    const dropped = next();
    timer.advance(30_000);
    assert.deepEqual((await dropped).roots, []);
    daemon.publish(viewOf({ c: '/c' }, '03'));
    await daemon.listen();
    const restored = next();
    await back(setup);
    assert.deepEqual(namesIn(await restored), ['c']);
    assert.deepEqual(namesIn(attachment.view), ['c']);
    assert.deepEqual(timer.pending, [PING_MS], 'the drop was cancelled');
  });

  it('knows why the daemon refuses to take it back, until it does or is gone again', async (t) => {
    const setup = await setUp(t);
    const { daemon, attachment, timer } = setup;
    const refusal = (): RefusedRequest | null => attachment.refusal;
    assert.equal(refusal(), null);
    daemon.stop();
    await lost(setup);
    daemon.refusal = { code: -32603, message: 'two fit', data: { code: 'PEER_AMBIGUOUS' } };
    await daemon.listen();
    while (refusal() === null) {
      timer.advance(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual([refusal()?.code, refusal()?.message], ['PEER_AMBIGUOUS', 'two fit']);
    daemon.refusal = null;
    await back(setup);
    assert.equal(refusal(), null);
  });

  it('asks a daemon every 10 s whether it lives, and takes one that hangs for one that is gone', async (t) => {
    const setup = await setUp(t);
    const { daemon, attachment, timer, views } = setup;
    for (let i = 0; i < 3; i++) {
      await ping(setup);
      // The answer has come: nothing has a deadline any more.
      while (timer.pending.join() !== String(PING_MS)) await new Promise((resolve) => setImmediate(resolve));
    }
    daemon.answers = false;
    await ping(setup);
    timer.advance(DEADLINE_MS - 1);
    assert.equal(attachment.connected, true);
    timer.advance(1);
    await lost(setup);
    timer.advance(29_999);
    assert.deepEqual([namesIn(attachment.view), views.length], [['a'], 0]);
    timer.advance(1);
    assert.deepEqual([attachment.view.roots, views.length], [[], 1]);
  });

  it('tells a daemon that is back what the host said, and how the session goes', async (t) => {
    const setup = await setUp(t);
    const { daemon, attachment } = setup;
    attachment.hostRoots(['file:///x']);
    const report = { era: 'modern', channels: ['argv'], askedForRoots: null, elicits: true } as const;
    attachment.report(report);
    assert.deepEqual((await daemon.next('rootsd/hostRoots')).params, { roots: [{ uri: 'file:///x' }] });
    assert.deepEqual((await daemon.next('rootsd/report')).params, report);
    daemon.stop();
    await lost(setup);
    await daemon.listen();
    await back(setup);
    assert.deepEqual((await daemon.next('rootsd/hostRoots')).params, { roots: [{ uri: 'file:///x' }] });
    assert.deepEqual((await daemon.next('rootsd/report')).params, report);
  });

  it('does nothing more once it is closed', async (t) => {
    const setup = await setUp(t);
    setup.daemon.stop();
    await lost(setup);
    setup.attachment.close();
    assert.deepEqual(setup.timer.pending, []);
  });
});
