import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { Connection, LostConnection, RefusedRequest } from '../../src/client/connection.ts';
import { JsonLineReader } from '../../src/client/json-lines.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { temporaryDirectory } from '../support/tree.ts';

interface Peer {
  readonly path: string;
  /** Messages that came, and the socket to answer on. */
  readonly next: () => Promise<{ readonly message: Record<string, unknown>; readonly socket: Socket }>;
}

async function listen(t: TestContext): Promise<Peer> {
  const path = `${temporaryDirectory(t)}/s`;
  const queue: { message: Record<string, unknown>; socket: Socket }[] = [];
  const waiting: ((entry: (typeof queue)[number]) => void)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const reader = new JsonLineReader((message) => {
      const entry = { message: message as Record<string, unknown>, socket };
      const resolve = waiting.shift();
      if (resolve === undefined) queue.push(entry);
      else resolve(entry);
    });
    socket.on('data', (chunk) => reader.push(chunk));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const next = async () => queue.shift() ?? new Promise<(typeof queue)[number]>((resolve) => waiting.push(resolve));
  return { path, next };
}

describe('Connection.open()', () => {
  it('waits where so many connect at once that the queue is full', async (t) => {
    const path = `${temporaryDirectory(t)}/s`;
    const server = createServer((socket) => socket.on('end', () => socket.end()).resume());
    await new Promise<void>((resolve) => server.listen({ path, backlog: 1 }, resolve));
    t.after(() => server.close());
    const connections = await Promise.all(Array.from({ length: 50 }, () => Connection.open(path)));
    for (const connection of connections) connection.close();
    assert.equal(connections.length, 50);
  });
});

describe('JsonLineReader', () => {
  it('gives each message once, however the bytes are cut', () => {
    const text = '{"a":"世😀"}\r\n\n  \n[1]\n{"b":2}\n{"never';
    const bytes = Buffer.from(text);
    for (let size = 1; size <= bytes.length; size++) {
      const messages: unknown[] = [];
      const reader = new JsonLineReader((message) => messages.push(message));
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
      assert.deepEqual(messages, [{ a: '世😀' }, [1], { b: 2 }]);
    }
  });

  it('throws at a line that is not JSON, and at one without an end', () => {
    assert.throws(
      () => new JsonLineReader(() => assert.fail('that is no message')).push(Buffer.from('x\n')),
      SyntaxError,
    );
    const reader = new JsonLineReader(() => assert.fail('that is no message'));
    const chunk = Buffer.alloc(32 * 1024 * 1024, ' ');
    reader.push(chunk);
    reader.push(chunk);
    assert.throws(() => reader.push(Buffer.from('  ')), RangeError);
  });
});

describe('Connection', () => {
  it('pairs answers with requests, whatever their order', async (t) => {
    const peer = await listen(t);
    const connection = await Connection.open(peer.path);
    t.after(() => connection.close());
    const results = Promise.all([connection.request('one', {}), connection.request('two', { x: 1 })]);
    const [one, two] = [await peer.next(), await peer.next()];
    assert.deepEqual(two.message, { jsonrpc: '2.0', id: 2, method: 'two', params: { x: 1 } });
    two.socket.write(`{"id":2,"result":"b"}\n{"id":99,"result":"nobody's"}\n7\n{"id":1,`);
    one.socket.write('"result":"a"}\n');
    assert.deepEqual(await results, ['a', 'b']);
  });

  it('rejects with what the daemon said', async (t) => {
    const peer = await listen(t);
    const connection = await Connection.open(peer.path);
    t.after(() => connection.close());
    const request = connection.request('m', {});
    const { socket } = await peer.next();
    socket.write('{"id":1,"error":{"code":-32603,"message":"no","data":{"code":"PEER_OTHER_USER"}}}\n');
    await assert.rejects(request, (error) => {
      assert.ok(error instanceof RefusedRequest);
      assert.deepEqual([error.message, error.code], ['no', 'PEER_OTHER_USER']);
      return true;
    });
  });

  it('hands over notifications and refuses requests', async (t) => {
    const peer = await listen(t);
    const notified = new Promise((resolve) => {
      void Connection.open(peer.path, { onNotification: (method, params) => resolve([method, params]) }).then((it) => {
        t.after(() => it.close());
        it.notify('hello', {});
      });
    });
    const { socket } = await peer.next();
    socket.write('{"method":"n","params":{"x":1}}\n{"id":"q","method":"ping"}\n');
    assert.deepEqual(await notified, ['n', { x: 1 }]);
    const { message } = await peer.next();
    assert.deepEqual([message.id, (message.error as { code: number }).code], ['q', -32601]);
  });

  it('gives up on a request at its deadline, and goes on', async (t) => {
    const peer = await listen(t);
    const timer = new ManualTimer();
    const connection = await Connection.open(peer.path, { deadlineMs: 1_000, timer: timer.after });
    t.after(() => connection.close());
    const late = connection.request('late', {});
    const { socket } = await peer.next();
    timer.advance(1_000);
    await assert.rejects(late, LostConnection);
    const next = connection.request('next', {});
    await peer.next();
    socket.write('{"id":1,"result":"late"}\n{"id":2,"result":"in time"}\n');
    assert.equal(await next, 'in time');
  });

  for (const [what, act] of [
    ['the daemon goes away', (socket: Socket) => socket.destroy()],
    ['the daemon writes what is not JSON', (socket: Socket) => socket.write('x\n')],
  ] as const) {
    it(`rejects what waits when ${what}, and what comes after`, async (t) => {
      const peer = await listen(t);
      let closed = 0;
      const connection = await Connection.open(peer.path, { onClose: () => (closed += 1) });
      const request = connection.request('m', {});
      const { socket } = await peer.next();
      act(socket);
      await assert.rejects(request, LostConnection);
      await assert.rejects(connection.request('m', {}), LostConnection);
      connection.close();
      assert.deepEqual([closed, connection.closed], [1, true]);
    });
  }

  it('cannot be opened where nobody listens', async (t) => {
    await assert.rejects(Connection.open(`${temporaryDirectory(t)}/s`), LostConnection);
  });
});
