import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { RootsError } from '../../src/core/errors.ts';
import { openNative } from '../../src/disk/native.ts';
import { Capacity } from '../../src/socket/capacity.ts';
import { openControl } from '../../src/socket/control.ts';
import type { ControlHandlers } from '../../src/socket/control-session.ts';
import type { Log } from '../../src/system/log.ts';
import { temporaryDirectory } from '../support/tree.ts';
import { LIMITS, openTestPeers } from './open-test-peers.ts';
import { connectPeer } from './raw-peer.ts';

const native = await openNative();

async function openTestControl(t: TestContext, handlers: ControlHandlers, capacity = new Capacity(LIMITS)) {
  const path = join(temporaryDirectory(t), 'control.sock');
  const logged: unknown[][] = [];
  const log: Log = (...line) => void logged.push(line);
  const control = await openControl({ at: { path }, limits: LIMITS, capacity, handlers, native, log });
  t.after(() => control.close());
  return { control, path, logged };
}

test('a handler gets the parameters, and its result is the answer', async (t) => {
  const { path } = await openTestControl(t, {
    'rootsd/status': async (params) => ({ params }),
    'rootsd/stop': async () => undefined,
  });
  const peer = await connectPeer(t, path);
  const { result } = await peer.request('rootsd/status', { a: 1 });
  assert.deepEqual(result.params, { a: 1 });
  assert.equal((await peer.request('rootsd/stop')).result, null);
});

test('requests of one connection are answered one after the other, those of others meanwhile', async (t) => {
  const order: string[] = [];
  let release = () => {};
  const { path } = await openTestControl(t, {
    slow: async () => {
      order.push('slow');
      await new Promise<void>((done) => {
        release = done;
      });
    },
    quick: async (params) => void order.push(`quick ${(params as { of: string }).of}`),
  });
  const [one, other] = [await connectPeer(t, path), await connectPeer(t, path)];
  one.send({ jsonrpc: '2.0', id: 1, method: 'slow' });
  one.send({ jsonrpc: '2.0', id: 2, method: 'quick', params: { of: 'one' } });
  while (order.length === 0) await new Promise(setImmediate);
  await other.request('quick', { of: 'other' });
  release();
  assert.equal((await one.next()).id, 1);
  assert.equal((await one.next()).id, 2);
  assert.deepEqual(order, ['slow', 'quick other', 'quick one']);
});

test('a RootsError is answered with its code and hint, anything else as an internal error that is logged', async (t) => {
  const { path, logged } = await openTestControl(t, {
    refuse: async () => {
      throw new RootsError('USAGE', { what: 'no such root' }, { hint: 'look again', cause: new Error('secret') });
    },
    fail: async () => {
      throw new TypeError('secret');
    },
    circle: async () => {
      const circle: { self?: unknown } = {};
      circle.self = circle;
      return circle;
    },
  });
  const peer = await connectPeer(t, path);
  const { error } = await peer.request('refuse');
  assert.deepEqual(error, { code: -32602, message: 'no such root', data: { code: 'USAGE', hint: 'look again' } });
  for (const method of ['fail', 'circle']) {
    const before = logged.length;
    assert.deepEqual((await peer.request(method)).error, { code: -32603, message: 'Internal error' });
    assert.deepEqual(
      logged.slice(before).map(([level, event]) => [level, event]),
      [['error', 'bug']],
    );
  }
});

test('what is no method of the control socket is refused, and the connection lives', async (t) => {
  const { path } = await openTestControl(t, { 'rootsd/status': async () => 1 });
  const peer = await connectPeer(t, path);
  for (const method of ['rootsd/attach', 'roots/list', 'constructor', '__proto__', 'toString']) {
    assert.equal((await peer.request(method)).error?.code, -32601, method);
  }
  peer.send([]);
  assert.equal((await peer.next()).error?.code, -32600);
  peer.notify('rootsd/status');
  assert.equal((await peer.request('rootsd/status')).result, 1);
});

test('malformed JSON ends that connection alone', async (t) => {
  const { path } = await openTestControl(t, { 'rootsd/status': async () => 1 });
  const [bad, good] = [await connectPeer(t, path), await connectPeer(t, path)];
  bad.write('reload\n');
  assert.equal((await bad.next()).error?.code, -32700);
  await bad.ended;
  assert.equal((await good.request('rootsd/status')).result, 1);
});

test('a caller that half-closes gets its answer', async (t) => {
  let answer: ((result: string) => void) | undefined;
  const { path } = await openTestControl(t, {
    slow: () =>
      new Promise((done) => {
        answer = done;
      }),
    quick: async () => null,
  });
  const [peer, other] = [await connectPeer(t, path), await connectPeer(t, path)];
  peer.socket.end('{"jsonrpc":"2.0","id":1,"method":"slow"}\n');
  await once(peer.socket, 'finish');
  // By now the half-close has arrived too.
  while (answer === undefined) await other.request('quick');
  answer('done');
  assert.equal((await peer.next()).result, 'done');
  await peer.ended;
});

test('close() lets the answer go out that says so', async (t) => {
  const { control, path } = await openTestControl(t, {
    'rootsd/stop': async () => {
      void control.close();
      await new Promise(setImmediate);
      return {};
    },
  });
  const peer = await connectPeer(t, path);
  assert.deepEqual((await peer.request('rootsd/stop')).result, {});
  peer.socket.end();
  await peer.closed;
  await control.close();
});

test('another user gets an error and nothing else', {
  skip: process.getuid?.() !== 0 ? 'needs root' : native === null && 'koffi is not installed',
}, async (t) => {
  const { path } = await openTestControl(t, { 'rootsd/status': async () => 'secret' });
  const peers = await openTestPeers(t);
  const rows = [
    [path, '{"jsonrpc":"2.0","id":7,"method":"rootsd/status"}'],
    [peers.path, '{"jsonrpc":"2.0","id":7,"method":"rootsd/attach","params":{"version":1,"server":null}}'],
  ] as const;
  for (const [socket, request] of rows) {
    // The modes keep other users out. Here they do not: it is the kernel's word on the uid that must.
    chmodSync(dirname(socket), 0o755);
    chmodSync(socket, 0o666);
    const script = `const s = require("net").connect(process.argv[1], () => s.write(process.argv[2] + "\\n"));
      s.pipe(process.stdout);`;
    const child = spawn(process.execPath, ['-e', script, socket, request], { uid: 65534, gid: 65534 });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(child, 'close');
    const { id, error } = JSON.parse(Buffer.concat(chunks).toString());
    assert.deepEqual([id, error.code, error.data.code], [7, -32600, 'PEER_OTHER_USER']);
  }
  assert.equal(peers.authority.attached.length, 0);
});

test('another user who comes again and again has five lines in the log, and a count', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root: another uid');
  const { peers, path, logged } = await openTestPeers(t);
  chmodSync(dirname(path), 0o755);
  chmodSync(path, 0o666);
  const script = `const one = (left) => left > 0 && require("net").connect(process.argv[1]).resume()
    .on("connect", function () { this.write("{}\\n"); }).on("close", () => one(left - 1));
    one(8);`;
  const child = spawn(process.execPath, ['-e', script, path], { uid: 65534, gid: 65534 });
  await once(child, 'close');
  await peers.close();
  const refused = logged.filter(({ event }) => event === 'peer refused').map(({ fields }) => [fields.uid, fields.left]);
  assert.deepEqual(refused, [...Array.from({ length: 5 }, () => [65534, undefined]), [65534, 3]]);
});

test('of more connections than administration needs the oldest goes that waits for no answer', async (t) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { path } = await openTestControl(t, { slow: () => held, quick: async () => 1 });
  const waiting = await connectPeer(t, path);
  const answer = waiting.request('slow');
  const [idle] = await Promise.all(Array.from({ length: 255 }, () => connectPeer(t, path)));
  const admin = await connectPeer(t, path);
  assert.equal((await admin.request('quick')).result, 1);
  await idle?.closed;
  release();
  assert.equal((await answer).result, null);
});

test('a connection is refused where all that there may be wait for their answers', async (t) => {
  let release = () => {};
  let asked = 0;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = () => {
    asked += 1;
    return held;
  };
  const { path } = await openTestControl(t, { slow, quick: async () => 1 });
  const waiting = await Promise.all(Array.from({ length: 256 }, () => connectPeer(t, path)));
  const answers = waiting.map((peer) => peer.request('slow'));
  while (asked < 256) await new Promise(setImmediate);
  for (let i = 0; i < 2; i += 1) {
    const late = await connectPeer(t, path);
    const { error } = await late.request('quick');
    assert.equal(error?.data?.code, 'CONTROL_FULL');
    await late.ended;
  }
  release();
  for (const answer of answers) assert.equal((await answer).result, null);
  assert.equal((await (await connectPeer(t, path)).request('quick')).result, 1);
});

test('administration is answered while there is no place for peers', async (t) => {
  const limits = { ...LIMITS, sessions: 1 };
  const capacity = new Capacity(limits);
  const { path: peersPath } = await openTestPeers(t, { limits, capacity });
  const { path } = await openTestControl(t, { status: async () => 1 }, capacity);
  const peer = await connectPeer(t, peersPath);
  await peer.request('rootsd/attach', { version: 1, server: 'git' });
  for (let i = 0; i < 3; i += 1) await connectPeer(t, peersPath);
  assert.equal((await (await connectPeer(t, path)).request('status')).result, 1);
});

test('a connection that is kept told does not count as idle, and its end is told', async (t) => {
  const ended: string[] = [];
  const { path } = await openTestControl(t, {
    watch: async (_params, _caller, connection) => {
      connection.keepTold(() => ended.push('watch'));
      connection.notify('news', { of: 'first' });
    },
    quick: async () => 1,
  });
  const watching = await connectPeer(t, path);
  watching.send({ jsonrpc: '2.0', id: 1, method: 'watch' });
  assert.deepEqual(await watching.next(), { jsonrpc: '2.0', method: 'news', params: { of: 'first' } });
  assert.equal((await watching.next()).id, 1);
  // More than there may be: those that wait for nothing go.
  const others = [];
  for (let i = 0; i < 257; i += 1) others.push(await connectPeer(t, path));
  await others[0]?.ended;
  assert.equal((await watching.request('quick')).result, 1);
  assert.deepEqual(ended, []);
  watching.socket.destroy();
  while (ended.length === 0) await new Promise(setImmediate);
});
