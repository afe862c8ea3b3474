import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { RootsError } from '../../src/core/errors.ts';
import { LIMITS, offView, openTestPeers, viewOf } from './open-test-peers.ts';
import { connectPeer, type RawPeer } from './raw-peer.ts';

const ATTACH = { version: 1, server: 'git' };

async function attach(peer: RawPeer): Promise<void> {
  const reply = await peer.request('rootsd/attach', ATTACH);
  assert.equal(reply.error, undefined);
}

/** Everything sent before has been handled when this returns: an attached peer's messages are handled in order. */
async function settled(peer: RawPeer): Promise<void> {
  assert.equal((await peer.request('rootsd/nothing')).error?.code, -32601);
}

test('rootsd/attach answers with who the peer is, its roots, its boundary and its plan', async (t) => {
  const { path, authority } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  const launch = { argv: ['npx', '-y', 'x'], cwd: '/w' };
  const { result } = await peer.request('rootsd/attach', {
    ...ATTACH,
    host: 'vscode',
    launch,
    project: '/p',
    later: 1,
  });
  assert.deepEqual(Object.keys(result), ['session', 'generation', 'peer', 'roots', 'boundary', 'plan']);
  assert.equal(result.generation, 'a1');
  assert.deepEqual(result.roots, viewOf('a1', 'one').roots);
  assert.deepEqual(authority.attached[0]?.params, { ...ATTACH, host: 'vscode', launch, project: '/p' });
});

test('roots/list answers as MCP has it, whatever the id and whichever way params are empty', async (t) => {
  const { path } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  await attach(peer);
  for (const params of [undefined, {}, { _meta: { traceparent: 'x' } }]) {
    for (const id of [0, '', 'text', -7, 2 ** 53 - 1, '\u2028"\\ü']) {
      peer.send({ jsonrpc: '2.0', id, method: 'roots/list', params });
      assert.deepEqual(await peer.next(), { jsonrpc: '2.0', id, result: { roots: viewOf('a1', 'one').roots } });
    }
  }
});

test('an attached peer gets one error for what it may not ask, and its session lives', async (t) => {
  const { path } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  await attach(peer);
  const rows: readonly (readonly [message: unknown, id: unknown, code: number])[] = [
    [{ jsonrpc: '2.0', id: 1, method: 'rootsd/attach', params: ATTACH }, 1, -32600],
    [{ jsonrpc: '2.0', id: 2, method: 'tools/list' }, 2, -32601],
    [{ jsonrpc: '2.0', id: 3, method: '__proto__' }, 3, -32601],
    [{ jsonrpc: '2.0', id: 4, method: 'roots/list', params: [] }, 4, -32602],
    [{ jsonrpc: '2.0', id: 5, method: 'roots/list', params: 'x' }, 5, -32602],
    [{ jsonrpc: '2.0', id: 6, method: 'rootsd/ack', params: {} }, 6, -32602],
    [{ jsonrpc: '2.0', id: 7, method: 'rootsd/hostRoots', params: { roots: 'x' } }, 7, -32602],
    [{ jsonrpc: '2.0', id: null, method: 'roots/list' }, null, -32600],
    [{ jsonrpc: '2.0', id: {}, method: 'roots/list' }, null, -32600],
    [{ jsonrpc: '2.0', id: 2 ** 53, method: 'roots/list' }, null, -32600],
    [{ jsonrpc: '1.0', id: 8, method: 'roots/list' }, 8, -32600],
    [{ id: 9, method: 'roots/list' }, 9, -32600],
    [{ jsonrpc: '2.0', id: 10, method: 7 }, 10, -32600],
    [[{ jsonrpc: '2.0', id: 11, method: 'roots/list' }], null, -32600],
    [[], null, -32600],
    [null, null, -32600],
    ['roots/list', null, -32600],
  ];
  for (const [message, id, code] of rows) {
    peer.send(message);
    const reply = await peer.next();
    assert.deepEqual([reply.id, reply.error?.code], [id, code], JSON.stringify(message));
  }
  assert.equal((await peer.request('roots/list')).error, undefined);
});

test('notifications and responses get no answer', async (t) => {
  const { path, authority } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  await attach(peer);
  peer.notify('roots/list');
  peer.notify('notifications/cancelled', { requestId: 1 });
  peer.notify('rootsd/ack', { generation: 7 });
  peer.notify('rootsd/watch');
  peer.send({ jsonrpc: '2.0', id: 'ours?', result: {} });
  peer.send({ jsonrpc: '2.0', id: 4, error: { code: 1, message: '' } });
  await settled(peer);
  assert.deepEqual(authority.attached[0]?.session.state.watching, false);
});

test('rootsd/attach with wrong parameters says which, and can be sent again', async (t) => {
  const { path, authority } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  const other = await peer.request('rootsd/attach', { ...ATTACH, version: 2 });
  assert.equal(other.error?.code, -32602);
  assert.deepEqual(other.error?.data, { supported: [1] });
  const named = await peer.request('rootsd/attach', { ...ATTACH, server: 'a\u001bb' });
  assert.match(named.error?.message ?? '', /"server"/);
  assert.equal(authority.attached.length, 0);
  await attach(peer);
});

test('a first message that opens nothing ends that session with an error that says why', async (t) => {
  const { path } = await openTestPeers(t);
  const good = await connectPeer(t, path);
  await attach(good);
  const rows: readonly (readonly [text: string | Buffer, code: number, says: RegExp])[] = [
    ['{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n', -32600, /"roots\/list".*"rootsd\/attach"/],
    ['{"jsonrpc":"2.0","method":"rootsd/attach","params":{"version":1,"server":null}}\n', -32600, /a notification/],
    ['{"jsonrpc":"2.0","id":1,"result":{}}\n', -32600, /a response/],
    ['[]\n', -32600, /batches/],
    ['{"jsonrpc":"2.0","id":1}\n', -32600, /"method"/],
    ['GET / HTTP/1.1\r\n', -32700, /not JSON/],
    ['Content-Length: 20\r\n\r\n', -32700, /not JSON/],
    ['\ufeff{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n', -32700, /not JSON/],
    [Buffer.from([0x22, 0xff, 0x22, 0x0a]), -32700, /not UTF-8/],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22, 0x0a]), -32700, /not UTF-8/],
    ['{"a":1}{"b":2}\n', -32700, /not JSON/],
  ];
  for (const [text, code, says] of rows) {
    const peer = await connectPeer(t, path);
    peer.write(text);
    const { error } = await peer.next();
    assert.equal(error?.code, code, String(text));
    assert.match(error?.message ?? '', says);
    await peer.ended;
    assert.deepEqual(peer.unread, []);
    peer.socket.destroy();
  }
  assert.equal((await good.request('roots/list')).error, undefined);
});

test('malformed JSON ends an attached session too', async (t) => {
  const { path, authority } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  await attach(peer);
  const closed = new Promise<void>((done) => {
    authority.onClosed = done;
  });
  peer.write('{"jsonrpc":\n');
  assert.equal((await peer.next()).error?.code, -32700);
  await peer.ended;
  peer.socket.end();
  await closed;
});

const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const OPENINGS = [
  ['server/discover', { _meta: META }],
  ['initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }],
  ['tools/list', { _meta: META }],
] as const;

test('an MCP client of either era is a session of the endpoint, and all it says is the endpoint’s', async (t) => {
  const { path, authority, publish } = await openTestPeers(t);
  for (const [i, [method, params]] of OPENINGS.entries()) {
    const peer = await connectPeer(t, path);
    peer.send({ jsonrpc: '2.0', id: 7, method, params });
    assert.deepEqual(((await peer.next()) as { said?: unknown }).said, { jsonrpc: '2.0', id: 7, method, params });
    const { params: claims, session } = authority.attached[i] ?? {};
    assert.deepEqual(claims, { version: 1, server: 'rootsd', host: null });
    assert.equal(session?.state.era, method === 'initialize' ? 'legacy' : 'modern');
    // What is told to those that want roots is nothing to it.
    publish(viewOf('a2', 'two'));
    peer.notify('notifications/x');
    assert.deepEqual(((await peer.next()) as { said?: unknown }).said, {
      jsonrpc: '2.0',
      method: 'notifications/x',
      params: {},
    });
    assert.deepEqual(peer.unread, []);
    peer.socket.destroy();
  }
});

test('rootsd/endpoint says who an MCP client is, before its first message', async (t) => {
  const { path, authority } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  const { error } = await peer.request('rootsd/endpoint', { version: 1, server: '', host: null });
  assert.equal(error?.code, -32602);
  const { result } = await peer.request('rootsd/endpoint', { version: 1, server: 's', host: 'h' });
  assert.deepEqual(Object.keys(result), ['session', 'peer']);
  assert.deepEqual(authority.attached[0]?.params, { version: 1, server: 's', host: 'h' });
  peer.send({ jsonrpc: '2.0', id: 1, method: 'rootsd/attach', params: {} });
  assert.equal(((await peer.next()) as { by?: unknown }).by, result.session);
});

test('what an MCP client sends while the endpoint is being loaded waits, in order', async (t) => {
  const { path, authority } = await openTestPeers(t);
  let ready = () => {};
  authority.endpointReady = new Promise((resolve) => {
    ready = resolve;
  });
  const peer = await connectPeer(t, path);
  for (const id of [1, 2, 3]) peer.send({ jsonrpc: '2.0', id, method: 'server/discover', params: { _meta: META } });
  const other = await connectPeer(t, path);
  await attach(other);
  assert.deepEqual(peer.received, []);
  ready();
  for (const id of [1, 2, 3]) {
    assert.equal(((await peer.next()) as { said?: { id?: unknown } }).said?.id, id);
  }
});

test('an endpoint is told that its client is gone, also of one that does not wait until it is loaded', async (t) => {
  const { path, authority } = await openTestPeers(t);
  let ready = () => {};
  authority.endpointReady = new Promise((resolve) => {
    ready = resolve;
  });
  const peer = await connectPeer(t, path);
  const gone = new Promise<void>((resolve) => {
    authority.onClosed = resolve;
  });
  peer.send({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: META } });
  while (authority.attached.length === 0) await new Promise((resolve) => setImmediate(resolve));
  peer.socket.destroy();
  ready();
  await gone;
  while (authority.closedEndpoints.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(authority.closedEndpoints.length, 1);
});

test('a silent connection receives nothing, whatever is published', async (t) => {
  const { path, publish } = await openTestPeers(t);
  const silent = await connectPeer(t, path);
  const peer = await connectPeer(t, path);
  await attach(peer);
  publish(viewOf('a2', 'two'));
  assert.equal((await peer.next()).method, 'notifications/roots/list_changed');
  await settled(peer);
  assert.deepEqual(silent.received, []);
  await attach(silent);
});

test('of too many silent connections the oldest goes', async (t) => {
  const { path } = await openTestPeers(t, { limits: { ...LIMITS, sessions: 3 } });
  const attached = await connectPeer(t, path);
  await attach(attached);
  const [oldest, second] = [await connectPeer(t, path), await connectPeer(t, path)];
  for (let i = 0; i < 2; i += 1) await connectPeer(t, path);
  await oldest.ended;
  assert.deepEqual(oldest.received, []);
  await attach(second);
  await settled(attached);
});

test('a thousand peers that connect at once are all served', async (t) => {
  const { path, publish } = await openTestPeers(t);
  const peers = await Promise.all(Array.from({ length: 1000 }, () => connectPeer(t, path)));
  await Promise.all(peers.map(attach));
  publish(viewOf('a2', 'two'));
  const notices = await Promise.all(peers.map((peer) => peer.next()));
  assert.ok(notices.every(({ method }) => method === 'notifications/roots/list_changed'));
});

test('an attached peer hears that its list changed, and of nothing else', async (t) => {
  const { path, publish } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  await attach(peer);
  publish(viewOf('a2', 'one'), false);
  publish(viewOf('a3', 'two'), true);
  assert.deepEqual(await peer.next(), { jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
  assert.deepEqual((await peer.request('roots/list')).result, { roots: viewOf('a3', 'two').roots });
  await settled(peer);
});

test('a watching peer gets each view whole and no list_changed', async (t) => {
  const { path, authority, publish } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  await attach(peer);
  assert.deepEqual((await peer.request('rootsd/watch', {})).result, viewOf('a1', 'one'));
  publish(viewOf('a2', 'one'), false);
  assert.deepEqual(await peer.next(), { jsonrpc: '2.0', method: 'rootsd/view', params: viewOf('a2', 'one') });
  publish(viewOf('a3'), true);
  assert.deepEqual((await peer.next()).params, viewOf('a3'));
  peer.notify('rootsd/ack', { generation: 'a3' });
  assert.deepEqual((await peer.request('roots/list')).result, { roots: [] });
  const state = authority.attached[0]?.session.state;
  assert.deepEqual(state, { era: 'legacy', watching: true, listed: true, told: 1, waitingBytes: 0 });
  assert.deepEqual(authority.acknowledgements, [{ generation: 'a3' }]);
});

test('a server with "roots: off" is told that roots are not supported, and why', async (t) => {
  const { path, authority, publish } = await openTestPeers(t);
  authority.view = offView('a1', 'one');
  const peer = await connectPeer(t, path);
  await attach(peer);
  const { error } = await peer.request('roots/list');
  assert.equal(error?.code, -32601);
  assert.equal(error?.message, 'Roots not supported');
  assert.match(String(error?.data?.reason), /roots: off/);
  publish(offView('a2'), true);
  await settled(peer);
});

test('an edit of "roots:" reaches a peer that is attached: it is told, and the next list follows', async (t) => {
  const { path, publish } = await openTestPeers(t);
  const [peer, watching] = [await connectPeer(t, path), await connectPeer(t, path)];
  for (const one of [peer, watching]) await attach(one);
  await watching.request('rootsd/watch');
  for (const view of [offView('a2', 'one'), viewOf('a3', 'one')]) {
    publish(view, false);
    assert.equal((await peer.next()).method, 'notifications/roots/list_changed');
    assert.deepEqual((await watching.next()).params, view);
    for (const one of [peer, watching]) {
      const { result, error } = await one.request('roots/list');
      assert.deepEqual([result?.roots, error?.code], view.plan.roots ? [view.roots, undefined] : [undefined, -32601]);
    }
  }
  await settled(peer);
});

test('rootsd/hostRoots is handed on, as a notification and as a request', async (t) => {
  const { path, authority } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  await attach(peer);
  peer.notify('rootsd/hostRoots', { roots: [{ uri: 'file:///a', name: 'A' }] });
  assert.deepEqual((await peer.request('rootsd/hostRoots', { roots: [] })).result, {});
  assert.deepEqual(authority.hostRootsSeen, [[{ uri: 'file:///a', name: 'A' }], []]);
});

test('what the authority refuses is the answer and the end of that session', async (t) => {
  const { path, authority, logged } = await openTestPeers(t);
  authority.failure = new RootsError('NOT_PERMITTED', { what: 'no' }, { hint: 'ask', cause: new Error('secret') });
  const peer = await connectPeer(t, path);
  const { error } = await peer.request('rootsd/attach', ATTACH);
  assert.deepEqual(error, { code: -32600, message: 'no', data: { code: 'NOT_PERMITTED', hint: 'ask' } });
  await peer.ended;
  assert.equal(logged.at(-1)?.event, 'peer refused');
  assert.deepEqual(authority.closedSessions, []);
});

test('a bug in the authority tells the peer nothing and is logged', async (t) => {
  const { path, authority, logged } = await openTestPeers(t);
  authority.failure = new TypeError('secret');
  const peer = await connectPeer(t, path);
  const { error } = await peer.request('rootsd/attach', ATTACH);
  assert.deepEqual(error, { code: -32603, message: 'Internal error' });
  await peer.ended;
  assert.deepEqual([logged.at(-1)?.level, logged.at(-1)?.fields.error], ['error', authority.failure]);
});

test('more sessions than the limit are refused until one closes', async (t) => {
  const { path, authority } = await openTestPeers(t, { limits: { ...LIMITS, sessions: 1 } });
  const first = await connectPeer(t, path);
  await attach(first);
  const second = await connectPeer(t, path);
  const { error } = await second.request('rootsd/attach', ATTACH);
  assert.equal(error?.data?.code, 'PEER_SESSIONS_FULL');
  const closed = new Promise<void>((done) => {
    authority.onClosed = done;
  });
  first.socket.end();
  await closed;
  await attach(await connectPeer(t, path));
});

test('a peer that half-closes gets its answers first', async (t) => {
  const { path } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  peer.socket.end(
    `{"jsonrpc":"2.0","id":1,"method":"rootsd/attach","params":${JSON.stringify(ATTACH)}}\r\n\r\n{"jsonrpc":"2.0","id":2,"method":"roots/list"}\r\n`,
  );
  assert.equal((await peer.next()).id, 1);
  assert.equal((await peer.next()).id, 2);
  await peer.closed;
});

test('a last line without a line break is not a message', async (t) => {
  const { path } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  await attach(peer);
  peer.socket.end('{"jsonrpc":"2.0","id":2,"method":"roots/list"}');
  const { id, error } = await peer.next();
  assert.deepEqual([id, error?.code], [null, -32700]);
  assert.match(error?.message ?? '', /without a line break/);
});

test('a peer that takes long to be let in holds up nobody, and what it sends meanwhile waits for the answer', async (t) => {
  const { path, authority, publish } = await openTestPeers(t);
  const other = await connectPeer(t, path);
  await attach(other);
  authority.attachSteps = Number.POSITIVE_INFINITY;
  const peer = await connectPeer(t, path);
  peer.send({ jsonrpc: '2.0', id: 1, method: 'rootsd/attach', params: ATTACH });
  peer.send({ jsonrpc: '2.0', id: 2, method: 'roots/list' });
  for (let i = 0; i < 20; i += 1) await other.request('roots/list');
  publish(viewOf('b2', 'two'));
  assert.equal(authority.attached.length, 1);
  authority.attachSteps = 0;
  const [attached, listed] = [await peer.next(), await peer.next()];
  assert.deepEqual([attached.id, attached.result.generation, listed.id], [1, 'b2', 2]);
  assert.deepEqual(listed.result.roots, attached.result.roots);
});

test('a peer that is ended while it is let in is no session', async (t) => {
  const { peers, path, authority } = await openTestPeers(t);
  authority.attachSteps = Number.POSITIVE_INFINITY;
  const peer = await connectPeer(t, path);
  peer.send({ jsonrpc: '2.0', id: 1, method: 'rootsd/attach', params: ATTACH });
  const other = await connectPeer(t, path);
  assert.equal((await other.request('roots/list')).error?.data?.code, 'PEER_FIRST_MESSAGE');
  const closing = peers.close();
  peer.socket.end();
  await closing;
  assert.deepEqual([authority.attached.length, authority.closedSessions.length], [0, 0]);
});

test('close() ends every connection, after what waits for it', async (t) => {
  const { peers, path, authority, publish } = await openTestPeers(t);
  const peer = await connectPeer(t, path);
  await attach(peer);
  const silent = await connectPeer(t, path);
  publish(viewOf('a9'));
  const closing = peers.close();
  assert.equal((await peer.next()).method, 'notifications/roots/list_changed');
  peer.socket.end();
  silent.socket.end();
  await Promise.all([closing, peer.closed, silent.closed]);
  assert.equal(authority.closedSessions.length, 1);
});

test('a thousand connections, half of them cut, leave no descriptor and no session behind', async (t) => {
  // A session or a connection left behind would fill the few places that there are.
  const { path, authority } = await openTestPeers(t, { limits: { ...LIMITS, sessions: 50 } });
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = process.platform === 'linux' ? descriptors() : 0;
  for (let i = 0; i < 1000; i += 1) {
    const peer = await connectPeer({ after: () => {} }, path);
    if (i % 4 < 2) await attach(peer);
    if (i % 2 === 0) peer.socket.destroy();
    else peer.socket.end();
    await peer.closed;
  }
  while (authority.closedSessions.length < 500) await new Promise(setImmediate);
  if (process.platform === 'linux') assert.ok(descriptors() <= before + 5);
});
