import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { UNKNOWN_SERVER } from '../../src/core/server-traits.ts';
import { type ConnectOptions, LiveRoots } from '../../src/lib/live-roots.ts';
import { RootsGuard } from '../../src/lib/roots-guard.ts';
import type { SdkClient } from '../../src/lib/sdk.ts';
import { FakeDaemon, viewOf } from '../support/fake-daemon.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';
import { type Connected, connected, SDKS, type Sdk } from './connected.ts';

interface Host {
  readonly daemon: FakeDaemon;
  readonly roots: LiveRoots;
  readonly timer: ManualTimer;
  readonly a: string;
  readonly b: string;
}

/** A daemon that allows the directory `a`, and a host that is attached to it. */
async function host(t: TestContext, set: (daemon: FakeDaemon) => void = () => undefined): Promise<Host> {
  const base = makeTree(t, ['dir a', 'dir b', 'dir run']);
  const [a, b] = [join(base, 'a'), join(base, 'b')];
  const daemon = await FakeDaemon.start(t, join(base, 'run'), viewOf({ a }));
  set(daemon);
  const timer = new ManualTimer();
  const roots = await LiveRoots.open({ server: 's', host: 'h', socket: daemon.socket }, { timer: timer.after });
  t.after(() => roots.close());
  return { daemon, roots, timer, a, b };
}

interface Served extends Connected {
  /** The server's guard: it sees what the client lists. */
  readonly guard: RootsGuard;
}

/** A server whose tool says which directories its client lists. */
async function served(t: TestContext, sdk: Sdk, roots: LiveRoots): Promise<Served> {
  const held: { guard?: RootsGuard } = {};
  const server = await connected(t, sdk, {
    list: null,
    install: (client) => roots.install(client),
    setUp: (target) => {
      const guard = new RootsGuard(target);
      held.guard = guard;
      return guard.handler(async (_args: never, _context: unknown) =>
        (await guard.roots()).map(({ name, access }) => `${name} ${access}`),
      );
    },
  });
  const { guard } = held;
  assert.ok(guard);
  return { ...server, guard };
}

/** Moves the clock until the host is back at its daemon. */
async function back({ roots, timer }: Host): Promise<void> {
  while (!roots.connected) {
    timer.advance(50);
    for (let i = 0; i < 20 && !roots.connected; i++) await new Promise((resolve) => setImmediate(resolve));
  }
}

async function lost({ roots }: Host): Promise<void> {
  while (roots.connected) await new Promise((resolve) => setImmediate(resolve));
}

const namesOf = (roots: LiveRoots): readonly string[] => roots.roots.map(({ name }) => name);

describe('LiveRoots.open()', () => {
  it('says whose roots it wants, and has them', async (t) => {
    const { daemon, roots, a } = await host(t);
    const { params } = await daemon.next('rootsd/attach');
    assert.deepEqual(params, { version: 1, server: 's', host: 'h' });
    assert.deepEqual(roots.roots, [{ uri: `file://${a}`, name: 'a', path: a, access: 'read-write' }]);
  });

  it('rejects where no daemon answers, or by the code of one that refuses', async (t) => {
    const socket = join(temporaryDirectory(t), 'none.sock');
    const options: ConnectOptions = { server: 's', socket };
    await assert.rejects(LiveRoots.open(options), {
      code: 'DAEMON_UNREACHABLE',
      message: /none\.sock": there is none/,
    });
    const refusal = { code: -32600, message: 'Cannot do it: full', data: { code: 'PEER_SESSIONS_FULL' } };
    const refusing = host(t, (daemon) => {
      daemon.refusal = refusal;
    });
    await assert.rejects(refusing, { code: 'PEER_SESSIONS_FULL', message: 'Cannot do it: full' });
  });
});

describe('LiveRoots', () => {
  it('has each view of the daemon, tells what changed, and acknowledges all', async (t) => {
    const { daemon, roots, a, b } = await host(t);
    const changes: (readonly string[])[] = [];
    roots.on('change', (now) => changes.push(now.map(({ name }) => name)));
    daemon.publish(viewOf({ a, b }, '02'));
    assert.deepEqual((await daemon.next('rootsd/ack')).params, { generation: '02', serial: 2 });
    daemon.publish(viewOf({ a, b }, '03'));
    await daemon.next('rootsd/ack');
    daemon.publish(viewOf({}, '04'));
    await daemon.next('rootsd/ack');
    assert.deepEqual(changes, [['a', 'b'], []], 'the same list again is no change');
  });

  it('takes a directory that was replaced by another for a change', async (t) => {
    const { daemon, roots, a } = await host(t);
    const view = viewOf({ a });
    const replaced = view.boundary.map((entry) => ({ ...entry, identity: '1:2:3' }));
    const change = once(roots, 'change');
    daemon.publish({ ...view, boundary: replaced });
    await change;
  });

  it('keeps what it has for 30 s without a daemon, and nothing after that', async (t) => {
    const at = await host(t);
    at.daemon.stop();
    await lost(at);
    at.timer.advance(29_999);
    assert.deepEqual(namesOf(at.roots), ['a']);
    const change = once(at.roots, 'change');
    at.timer.advance(1);
    assert.deepEqual(await change, [[]]);
    assert.deepEqual(namesOf(at.roots), []);
  });

  it('has what holds then when its daemon is back', async (t) => {
    const at = await host(t);
    const { daemon, roots, b } = at;
    daemon.stop();
    await lost(at);
    daemon.show(viewOf({ b }));
    await daemon.listen();
    await back(at);
    assert.deepEqual(namesOf(roots), ['b']);
    at.timer.advance(30_000);
    assert.deepEqual(namesOf(roots), ['b']);
  });
});

for (const sdk of SDKS) {
  describe(`LiveRoots.install() on a client of SDK ${sdk}`, () => {
    it('lists the roots to the server, with their access', async (t) => {
      const { roots } = await host(t);
      const { call } = await served(t, sdk, roots);
      assert.equal(await call(), '["a read-write"]');
    });

    it('says once to the daemon that the server has asked', async (t) => {
      const { daemon, roots } = await host(t);
      const { call } = await served(t, sdk, roots);
      await call();
      const era = sdk === '2.x, modern' ? 'modern' : 'legacy';
      const { params } = await daemon.next('rootsd/report');
      assert.deepEqual(params, { era, channels: ['roots'], askedForRoots: true, elicits: false });
      await call();
      daemon.publish(daemon.view);
      await daemon.next('rootsd/ack');
      assert.ok(daemon.received.every(({ method }) => method !== 'rootsd/report'));
    });

    it('lists what holds after a change', async (t) => {
      const { daemon, roots, b } = await host(t);
      const { call, guard } = await served(t, sdk, roots);
      await call();
      const heard = sdk === '2.x, modern' ? once(roots, 'change') : once(guard, 'change');
      daemon.publish(viewOf({ b }));
      await heard;
      assert.equal(await call(), '["b read-write"]');
    });

    it('takes everything back from the server where nothing is allowed any more', async (t) => {
      const { daemon, roots } = await host(t);
      const { call, guard } = await served(t, sdk, roots);
      await call();
      const heard = sdk === '2.x, modern' ? once(roots, 'change') : once(guard, 'change');
      daemon.publish(viewOf({}));
      await heard;
      assert.equal(await call(), '[]');
    });

    it('offers nothing where the policy says so', async (t) => {
      const { roots } = await host(t, (daemon) => {
        daemon.plan = { ...daemon.plan, roots: false };
      });
      const { call } = await served(t, sdk, roots);
      assert.equal(await call(), '[]');
      assert.deepEqual(namesOf(roots), []);
    });

    it('allows nothing any more once it is closed', async (t) => {
      const { roots } = await host(t);
      const { call, guard } = await served(t, sdk, roots);
      await call();
      const heard = sdk === '2.x, modern' ? null : once(guard, 'change');
      roots.close();
      await heard;
      assert.equal(await call(), '[]');
    });
  });
}

/** Takes from memory what nobody keeps. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 3; turn++) {
    // What a WeakRef was made of or gave is kept until the turn ends.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
}

/** A client that is initialized and takes everything. */
const NO_CLIENT: SdkClient = {
  transport: {},
  registerCapabilities: () => undefined,
  setRequestHandler: () => undefined,
  setNotificationHandler: () => undefined,
  getServerCapabilities: () => ({}),
  sendRootsListChanged: async () => undefined,
  complete: () => undefined,
};

describe('LiveRoots.install()', () => {
  it('gives an empty directory in place of an empty list, but to a server that is known to understand one', async (t) => {
    const { daemon, roots } = await host(t);
    const held: { answer?: () => { readonly roots: readonly object[] } } = {};
    roots.install({
      ...NO_CLIENT,
      setRequestHandler: (_method: never, answer: never) => {
        held.answer = answer;
      },
    });
    for (const [empty, expected] of [
      [
        'tombstone',
        /^\[\{"uri":"file:\/\/[^"]*empty[^"]*","name":"no access \(rootsd\)","_meta":\{"io.rootsd\/access":"none"\}\}\]$/,
      ],
      ['empty', /^\[\]$/],
      ['stop', /"no access \(rootsd\)"/],
    ] as const) {
      daemon.plan = { ...daemon.plan, ...UNKNOWN_SERVER, empty };
      const change = once(roots, 'change');
      daemon.publish(viewOf({}));
      await change;
      assert.match(JSON.stringify(held.answer?.().roots), expected, empty);
    }
  });

  it('tells of a change only a client whose session is initialized and has such a notification', async (t) => {
    const { daemon, roots, b } = await host(t);
    const told: string[] = [];
    const client = (name: string, more: Partial<SdkClient>): SdkClient => ({
      ...NO_CLIENT,
      sendRootsListChanged: async () => void told.push(name),
      ...more,
    });
    roots.install(client('not connected', { transport: undefined }));
    roots.install(client('not initialized', { getServerCapabilities: () => undefined }));
    roots.install(client('modern', { getNegotiatedProtocolVersion: () => '2026-07-28' }));
    roots.install(client('legacy', { getNegotiatedProtocolVersion: () => '2025-11-25' }));
    roots.install(client('1.x', {}));
    daemon.publish(viewOf({ b }));
    await daemon.next('rootsd/ack');
    assert.deepEqual(told, ['legacy', '1.x']);
  });

  it('keeps no client and no completer that its host does not keep', async (t) => {
    const { daemon, roots, b } = await host(t);
    const told: string[] = [];
    const kept = { ...NO_CLIENT, sendRootsListChanged: async () => void told.push('kept') };
    const gone = Array.from({ length: 20 }, () => {
      const client = { ...NO_CLIENT, sendRootsListChanged: async () => void told.push('gone') };
      roots.install(client);
      return [new WeakRef<object>(client), new WeakRef<object>(roots.completer(client))];
    });
    roots.install(kept);
    await collectGarbage();
    assert.deepEqual(new Set(gone.flat().map((ref) => ref.deref())), new Set([undefined]));
    daemon.publish(viewOf({ b }));
    await daemon.next('rootsd/ack');
    assert.deepEqual(told, ['kept']);
  });

  it('warns of a client that cannot be told, and goes on with the others', async (t) => {
    const { daemon, roots, b } = await host(t);
    const told: string[] = [];
    const fails = async (): Promise<void> => {
      throw new Error('broken pipe');
    };
    roots.install({ ...NO_CLIENT, sendRootsListChanged: fails });
    roots.install({ ...NO_CLIENT, sendRootsListChanged: async () => void told.push('second') });
    const warning = once(roots, 'warning');
    daemon.publish(viewOf({ b }));
    assert.match(String(await warning), /could not be told that its roots have changed: broken pipe/);
    await daemon.next('rootsd/ack');
    assert.deepEqual(told, ['second']);
  });
});
