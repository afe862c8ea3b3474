import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import type { RootsError } from '../../src/core/errors.ts';
import { LIMITS, openTestPeers, viewOf } from './open-test-peers.ts';
import { connectPeer, type RawPeer } from './raw-peer.ts';

const ATTACH = { version: 1, server: 'git' };

async function attach(peer: RawPeer): Promise<void> {
  assert.equal((await peer.request('rootsd/attach', ATTACH)).error, undefined);
}

async function watch(peer: RawPeer): Promise<void> {
  await attach(peer);
  assert.equal((await peer.request('rootsd/watch')).error, undefined);
}

/** Larger than what the kernel takes for a socket that is not read. */
function largeView(generation: string): ReturnType<typeof viewOf> {
  return viewOf(generation, ...Array.from({ length: 4000 }, (_, i) => `root-${i}-${'x'.repeat(40)}`));
}

test('a watching peer that does not read delays nobody and gets one more view, the newest', async (t) => {
  const { path, authority, publish } = await openTestPeers(t);
  const frozen = await connectPeer(t, path);
  await watch(frozen);
  frozen.socket.pause();
  const others = await Promise.all(Array.from({ length: 19 }, () => connectPeer(t, path)));
  for (const other of others) await watch(other);

  for (let i = 1; i <= 20; i += 1) {
    publish({ ...(i === 1 ? largeView('b1') : viewOf(`b${i}`, 'x')), serial: i + 1 });
    for (const other of others) assert.equal((await other.next()).params.generation, `b${i}`);
  }
  const state = authority.attached[0]?.session.state;
  assert.equal(state?.told, 2, 'the first one is still being written');
  assert.equal(state?.waitingBytes, 0, 'later ones are made when they can be written');

  await attach(await connectPeer(t, path));
  frozen.socket.resume();
  assert.equal((await frozen.next()).params.generation, 'b1');
  assert.equal((await frozen.next()).params.generation, 'b20');
  assert.equal((await frozen.request('rootsd/nothing')).error?.code, -32601, 'nothing else came');
});

test('a peer that does not read gets its questions once more, the newest, and behind the newest view', async (t) => {
  const { path, authority, publish } = await openTestPeers(t);
  const frozen = await connectPeer(t, path);
  await watch(frozen);
  frozen.socket.pause();
  const [session] = authority.sessions;
  const ask = (...ids: readonly string[]) =>
    session?.ask(ids.map((id) => ({ id, text: id, scopes: ['session'], until: '2026-01-01T00:00:00.000Z' })));
  publish({ ...largeView('b1'), serial: 2 });
  for (let i = 0; i < 1_000; i += 1) ask('one', `q${i}`);
  ask('two');
  publish({ ...viewOf('b2', 'x'), serial: 3 });
  assert.equal(session?.state.waitingBytes, 0);
  frozen.socket.resume();
  assert.equal((await frozen.next()).params.generation, 'b1');
  assert.equal((await frozen.next()).params.generation, 'b2');
  const { method, params } = await frozen.next();
  assert.deepEqual([method, params.questions.map(({ id }: { id: string }) => id)], ['rootsd/questions', ['two']]);
  assert.equal((await frozen.request('rootsd/nothing')).error?.code, -32601, 'nothing else came');
});

test('a peer that listens for list_changed and does not read gets at most one more', async (t) => {
  const { path, authority, publish } = await openTestPeers(t);
  authority.view = largeView('a1');
  const peer = await connectPeer(t, path);
  await attach(peer);
  peer.socket.pause();
  peer.send({ jsonrpc: '2.0', id: 'list', method: 'roots/list' });
  while (authority.attached[0]?.session.state.listed !== true) await new Promise(setImmediate);
  for (let i = 2; i < 100; i += 1) publish(viewOf(`a${i}`, 'x'));
  peer.socket.resume();
  assert.equal((await peer.next()).id, 'list');
  assert.equal((await peer.next()).method, 'notifications/roots/list_changed');
  assert.deepEqual((await peer.request('roots/list')).result, { roots: viewOf('a99', 'x').roots });
});

test('a notice that waits is not sent once rootsd/watch has given the newest view', async (t) => {
  const { path, authority, publish } = await openTestPeers(t);
  authority.view = largeView('a1');
  const peer = await connectPeer(t, path);
  await attach(peer);
  peer.socket.pause();
  peer.send({ jsonrpc: '2.0', id: 'list', method: 'roots/list' });
  const state = () => authority.attached[0]?.session.state;
  while (state()?.listed !== true) await new Promise(setImmediate);
  publish(viewOf('a2', 'x'));
  peer.send({ jsonrpc: '2.0', id: 'watch', method: 'rootsd/watch' });
  while (state()?.watching !== true) await new Promise(setImmediate);
  peer.socket.resume();
  assert.equal((await peer.next()).id, 'list');
  assert.equal((await peer.next()).result.generation, 'a2');
  assert.equal((await peer.request('rootsd/nothing')).error?.code, -32601, 'nothing else came');
});

test('a peer that sends requests and does not read is not read from, and is cut', async (t) => {
  const { path, authority, logged } = await openTestPeers(t, { limits: { ...LIMITS, queue: 64 * 1024, stallMs: 50 } });
  authority.view = viewOf('a1', ...Array.from({ length: 20 }, (_, i) => `root-${i}`));
  const flood = await connectPeer(t, path);
  await attach(flood);
  const other = await connectPeer(t, path);
  await attach(other);
  const closed = new Promise<void>((done) => {
    authority.onClosed = done;
  });
  flood.socket.pause();
  const requests = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n'.repeat(2000));
  flood.socket.on('drain', () => flood.write(requests));
  flood.write(requests);
  const session = authority.attached[0]?.session;
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, session?.state.waitingBytes ?? 0);
  }, 1);
  t.after(() => clearInterval(watching));
  assert.equal((await other.request('roots/list')).error, undefined);
  await closed;
  assert.ok(most < 64 * 1024 + 4096, `at most the queue and one reply wait, not ${most} bytes`);
  const { event, fields } = logged.at(-1) ?? {};
  assert.deepEqual([event, (fields?.error as RootsError | undefined)?.code], ['peer fault', 'PEER_STALLED']);
  assert.equal((await other.request('roots/list')).error, undefined);
});

test('a peer that sends many requests at once and reads gets every answer', async (t) => {
  const { path, authority } = await openTestPeers(t, { limits: { ...LIMITS, queue: 64 * 1024 } });
  authority.view = viewOf('a1', ...Array.from({ length: 20 }, (_, i) => `root-${i}`));
  const peer = await connectPeer(t, path);
  await attach(peer);
  const count = 20_000;
  let text = '';
  for (let id = 0; id < count; id += 1) text += `{"jsonrpc":"2.0","id":${id},"method":"roots/list"}\n`;
  peer.write(text);
  for (let id = 0; id < count; id += 1) assert.equal((await peer.next()).id, id);
});

test('a message over the limit ends that session with an error that says so, within bounded memory', async (t) => {
  const { path } = await openTestPeers(t, { limits: { ...LIMITS, message: 1024 * 1024 } });
  const peer = await connectPeer(t, path);
  await attach(peer);
  const other = await connectPeer(t, path);
  await attach(other);
  const before = process.memoryUsage().arrayBuffers;
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let most = 0;
  const pump = () => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    while (
      !peer.socket.destroyed &&
      peer.socket.writable &&
      peer.write(chunk) === undefined &&
      !peer.socket.writableNeedDrain
    );
  };
  peer.socket.on('drain', pump);
  pump();
  const { error } = await peer.next();
  assert.deepEqual([error?.code, error?.data?.code], [-32600, 'PEER_MESSAGE_TOO_LARGE']);
  assert.match(error?.message ?? '', /1048576 bytes/);
  await peer.ended;
  assert.ok(most < 20 * 1024 * 1024, `${most} bytes`);
  assert.equal((await other.request('roots/list')).error, undefined);
});

test('a peer that sends all it has before it reads still learns why it was refused', async (t) => {
  const { path } = await openTestPeers(t, { limits: { ...LIMITS, message: 1024 } });
  const script = `use Socket; $SIG{PIPE} = "IGNORE"; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
    connect($s, pack_sockaddr_un(shift)) or die; my $x = "x" x 65536;
    for (1 .. 160) { my $n = syswrite($s, $x); die "write: $!" unless $n == 65536; select(undef, undef, undef, 0.001); }
    print scalar <$s>;`;
  const child = spawn('perl', ['-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const [reply] = await once(child.stdout, 'data');
  assert.equal(JSON.parse(String(reply)).error.data.code, 'PEER_MESSAGE_TOO_LARGE');
});

test('a message of just the limit is served', async (t) => {
  const { path } = await openTestPeers(t, { limits: { ...LIMITS, message: 1024 } });
  const peer = await connectPeer(t, path);
  await attach(peer);
  const head = '{"jsonrpc":"2.0","id":"';
  const tail = '","method":"roots/list"}';
  const id = 'x'.repeat(1024 - head.length - tail.length);
  peer.write(`${head}${id}${tail}\r\n`);
  assert.equal((await peer.next()).id, id);
  peer.write(`${head}x${id}${tail}\n`);
  assert.equal((await peer.next()).error?.data?.code, 'PEER_MESSAGE_TOO_LARGE');
});

test('a peer that goes away while it is written to ends its own session alone', async (t) => {
  const { path, authority, publish } = await openTestPeers(t);
  const other = await connectPeer(t, path);
  await watch(other);
  for (let i = 0; i < 20; i += 1) {
    const peer = await connectPeer(t, path);
    await watch(peer);
    peer.socket.pause();
    const closed = new Promise<void>((done) => {
      authority.onClosed = done;
    });
    publish(largeView(`c${i}`));
    peer.send({ jsonrpc: '2.0', id: 1, method: 'roots/list' });
    peer.socket.destroy();
    await closed;
    assert.equal((await other.next()).params.generation, `c${i}`);
  }
});

function requestLine(id: number, method: string): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params: method === 'roots/list' ? {} : ATTACH })}\n`;
}

test('a large answer reaches a slow reader whole, also after it has said its last', async (t) => {
  const { path, authority } = await openTestPeers(t);
  authority.view = largeView('a1');
  const peer = await connectPeer(t, path);
  peer.socket.pause();
  peer.socket.end(requestLine(1, 'rootsd/attach') + requestLine(2, 'roots/list'));
  await once(peer.socket, 'finish');
  for (let id = 1; id <= 2; id += 1) {
    const reply = peer.next();
    // A little at a time, with the daemon's turn in between.
    while (peer.unread.length === 0 && (await Promise.race([reply, nextChunk(peer)])) === undefined);
    assert.equal((await reply).result.roots.length, 4000);
  }
  await peer.ended;
});

test('a large answer reaches a slow reader whole, also where its list changes and it has said its last', async (t) => {
  const { path, authority, publish } = await openTestPeers(t);
  authority.view = largeView('a1');
  const peer = await connectPeer(t, path);
  peer.socket.pause();
  peer.write(requestLine(1, 'rootsd/attach') + requestLine(2, 'roots/list'));
  while (authority.attached[0]?.session.state.listed !== true) await new Promise(setImmediate);
  const [{ session } = assert.fail()] = authority.attached;
  session.close();
  publish(viewOf('a2', 'x'));
  peer.socket.resume();
  for (let id = 1; id <= 2; id += 1) assert.equal((await peer.next()).result.roots.length, 4000);
  await peer.ended;
  assert.deepEqual(peer.unread, []);
});

async function nextChunk(peer: RawPeer): Promise<undefined> {
  peer.socket.resume();
  await once(peer.socket, 'data');
  peer.socket.pause();
  await new Promise(setImmediate);
}

test('text reaches the authority as it was sent, one byte at a time', async (t) => {
  const { path, authority } = await openTestPeers(t);
  const server = 'é 漢字 👩‍👩‍👧 e\u0301';
  const peer = await connectPeer(t, path);
  const line = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'rootsd/attach', params: { version: 1, server } });
  for (const byte of Buffer.from(`${line}\n`)) {
    peer.socket.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  assert.equal((await peer.next()).id, 1);
  assert.equal(authority.attached[0]?.params.server, server);
});
