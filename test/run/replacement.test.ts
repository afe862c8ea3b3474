import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { type Timer, unrefTimer } from '../../src/client/timer.ts';
import { identifyProcess } from '../../src/run/processes.ts';
import { viewOf } from '../support/fake-daemon.ts';
import type { HostInProcess } from '../support/host-in-process.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import type { Json } from '../support/run-host.ts';
import { type RunInProcess, startRunInProcess } from '../support/run-in-process.ts';

interface Holding extends RunInProcess {
  /** From now on a server whose first argument is this path does not answer `initialize`. */
  readonly hold: (path: string) => void;
  /** Is there one that would answer? */
  readonly isHeld: () => boolean;
  readonly release: () => void;
}

/** A session within this process. The obedient server gets `args`; what it may have is `a`. */
function setUp(t: TestContext, args: readonly string[], timer: Timer = unrefTimer): Holding {
  const run = startRunInProcess(t, {
    tree: ['file a/f x', 'dir b', 'dir c'],
    allowed: ['a'],
    args: (base) => [...args, '--hold', `${base}/hold`],
    timer,
  });
  const hold = `${run.base}/hold`;
  return {
    ...run,
    hold: (path) => writeFileSync(hold, path),
    isHeld: () => existsSync(`${hold}.held`),
    release: () => rmSync(hold),
  };
}

/** Waits for what nothing tells. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

let lastId = 100;
async function ask(host: HostInProcess, method: string): Promise<unknown> {
  lastId += 1;
  return (await host.request(lastId, method)).result;
}

const firstArgument = async (host: HostInProcess): Promise<string> =>
  String(((await ask(host, 'argv')) as string[])[0]);
const pidOf = async (host: HostInProcess): Promise<number> => ((await ask(host, 'environment')) as { pid: number }).pid;
const rootsOf = (...paths: readonly string[]): Json => ({ roots: paths.map((path) => ({ uri: `file://${path}` })) });

describe('RunSession, a change where argv is the channel, at a bad moment', () => {
  it('does not wait for the end of a request that lasts', async (t) => {
    const callsNeverEnd: Timer = (ms, ring) => (ms === 5_000 ? () => undefined : unrefTimer(ms, ring));
    const { base, host, attachment, view } = setUp(t, ['{roots}'], callsNeverEnd);
    const started = host.next(({ params }) => (params as Json | undefined)?.id === 'l');
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    host.send({ id: 'l', method: 'subscriptions/listen', params: { _meta } });
    await started;
    const startedAgain = host.next(({ params }) => (params as Json | undefined)?.id === 'l');
    attachment.publish(view('b'));
    assert.deepEqual(((await startedAgain).params as { argv: string[] }).argv[0], `${base}/b`);
  });

  it('is not lost while the server starts, nor acknowledged before it holds', async (t) => {
    const { host, attachment, ended, view } = setUp(t, ['{roots}']);
    // By then the plan is here, and the server is on its way.
    setImmediate(() => attachment.publish(view()));
    await host.initialize();
    assert.deepEqual(readdirSync(await firstArgument(host)), [], 'an empty directory stands for no root');
    await until(() => attachment.acknowledged.includes(2));
    host.end();
    assert.deepEqual(await ended, { status: 0, signal: null });
  });

  it('is not acknowledged while the server of before still runs', async (t) => {
    const { base, host, attachment, view, hold, isHeld, release } = setUp(t, ['{roots}']);
    await host.initialize();
    await until(() => attachment.acknowledged.includes(1));
    hold(`${base}/b`);
    attachment.publish(view('b'));
    await until(isHeld);
    assert.deepEqual(attachment.acknowledged, [1]);
    release();
    await until(() => attachment.acknowledged.includes(2));
    assert.equal(await firstArgument(host), `${base}/b`);
  });

  it('replaces a server at once that is still at its handshake', { timeout: 30_000 }, async (t) => {
    const { base, host, attachment, view, hold, isHeld } = setUp(t, ['{roots}']);
    await host.initialize();
    hold(`${base}/b`);
    attachment.publish(view('b'));
    await until(isHeld);
    attachment.publish(view('c'));
    await until(() => attachment.acknowledged.includes(3));
    assert.equal(await firstArgument(host), `${base}/c`);
    const methods = ((await ask(host, 'received')) as string[]).map((line) => JSON.parse(line).method);
    assert.deepEqual(methods.slice(0, 3), ['initialize', 'notifications/initialized', 'argv'], 'each is said once');
  });

  it('does not tell the new server the end of a line that began for the old one', async (t) => {
    const { base, host, attachment, view } = setUp(t, ['{roots}']);
    await host.initialize();
    await ask(host, 'echo');
    host.write(`{"jsonrpc":"2.0","id":"cut","method":"echo","params":{"text":"${'x'.repeat(200_000)}`);
    attachment.publish(view('b'));
    await until(() => attachment.acknowledged.includes(2));
    const answer = host.next(({ id }) => id === 'cut');
    host.write('"}}\n');
    assert.match(((await answer).error as Json).message as string, /started again/);
    assert.equal(await firstArgument(host), `${base}/b`);
    const lines = (await ask(host, 'received')) as string[];
    assert.equal(JSON.parse(lines[0] ?? '').method, 'initialize');
    assert.ok(!lines.some((line) => line.includes('xxx')));
  });
});

describe('RunSession, an answer of the host while its messages wait', () => {
  /** What the host writes before its answer: then the answer is not even read until the server is there. */
  for (const [what, before] of [
    ['is heard at once', null],
    ['is heard when it is reached: until then the clock does not count', { id: 'first', method: 'echo' }],
  ] as const) {
    it(what, async (t) => {
      const timer = new ManualTimer();
      const { base, host, attachment, view, hold, isHeld, release, said } = setUp(t, ['{roots}'], timer.after);
      attachment.view = { ...attachment.view, ...view('a', 'b', 'c') };
      const isQuestion = ({ method }: Json): boolean => method === 'roots/list';
      const asked = host.next(isQuestion);
      await host.initialize({ roots: { listChanged: true } });
      const askedAgain = host.next(isQuestion);
      host.send({ id: (await asked).id, result: rootsOf(`${base}/b`, `${base}/c`) });
      await until(() => attachment.acknowledged.includes(1));
      assert.equal(await firstArgument(host), `${base}/b`);
      host.send({ method: 'notifications/roots/list_changed' });
      const { id } = await askedAgain;
      hold(`${base}/c`);
      attachment.publish(view('a', 'c'));
      await until(isHeld);
      if (before !== null) host.send(before);
      host.send({ id, result: rootsOf(`${base}/a`) });
      if (before === null) await until(() => attachment.hostRootsSeen.length === 2);
      timer.advance(5_000);
      release();
      while ((await firstArgument(host)) !== `${base}/a`);
      assert.equal(said(), '');
    });
  }

  it('that does not come leaves the list that the host gave before', async (t) => {
    const timer = new ManualTimer();
    const { base, host, attachment, said } = setUp(t, ['{roots}'], timer.after);
    attachment.view = { ...attachment.view, ...viewOf({ a: `${base}/a`, b: `${base}/b` }) };
    const asked = host.next(({ method }) => method === 'roots/list');
    await host.initialize({ roots: { listChanged: true } });
    host.send({ id: (await asked).id, result: rootsOf(`${base}/b`) });
    await until(() => attachment.acknowledged.includes(1));
    const before = await pidOf(host);
    host.send({ method: 'notifications/roots/list_changed' });
    await ask(host, 'echo');
    timer.advance(5_000);
    await until(() => said() !== '');
    assert.match(said(), /does not list its roots again/);
    assert.equal(await firstArgument(host), `${base}/b`);
    assert.equal(await pidOf(host), before);
  });
});

describe('RunSession, where an empty directory is needed and none can be made', () => {
  /** By which channel; what the server is asked after the change. */
  for (const [channel, args] of [
    ['argv', ['{roots}']],
    ['roots', []],
  ] as const) {
    it(`ends the server and says what to do: ${channel}`, async (t) => {
      const { base, host, attachment, ended, view, said } = setUp(t, args);
      await host.initialize();
      const pid = await pidOf(host);
      rmSync(`${base}/run`, { recursive: true });
      const open = host.request(9, 'never');
      attachment.publish(view());
      if (channel === 'roots') host.send({ id: 10, method: 'roots' });
      const { message, data } = (await open).error as { message: string; data: Json };
      assert.equal(data.code, 'TOMBSTONE_FAILED');
      assert.match(message, /Make one of these writable/);
      assert.deepEqual(await ended, { status: 78, signal: null });
      assert.equal(identifyProcess(pid), null);
      assert.match(said(), /Cannot make an empty directory/);
      assert.deepEqual(attachment.acknowledged.slice(1), channel === 'argv' ? [] : [2]);
    });
  }
});

describe('RunSession, without a daemon', () => {
  it('allows nothing any more once the view is dropped, says so, and goes on when it is back', async (t) => {
    const { base, host, attachment, said, view } = setUp(t, []);
    const listed = async (): Promise<string> =>
      ((await ask(host, 'roots')) as { result: { roots: { uri: string }[] } }).result.roots
        .map(({ uri }) => uri)
        .join();
    await host.initialize();
    assert.equal(await listed(), `file://${base}/a`);
    const changed = async (): Promise<void> => {
      while ((await ask(host, 'list-changed')) === 0);
    };
    attachment.connected = false;
    attachment.publish(view());
    await changed();
    assert.match(await listed(), /\/empty(-[0-9a-f]+)?$/);
    assert.match(said(), /gone for 30 s/);
    attachment.connected = true;
    attachment.publish(view('a', 'b'));
    assert.equal(await listed(), `file://${base}/a,file://${base}/b`);
  });
});
