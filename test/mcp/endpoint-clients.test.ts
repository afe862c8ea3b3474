// The endpoint of a real daemon and clients that are early, hasty or wrong.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectPeer } from '../socket/raw-peer.ts';
import { POLICY, served, uriOf } from '../support/endpoint-home.ts';
import { McpPeer, MODERN_META, openMcpPeer } from '../support/mcp-peer.ts';
import type { TestHome } from '../support/serve.ts';

test('a client that subscribes to what it may not see is refused as for what is not there', async (t) => {
  const home = await served(t);
  const client = await openMcpPeer(t, home.socket, 'legacy');
  const { error } = await client.ask('resources/subscribe', { uri: uriOf(home, 'other/secret') });
  assert.equal(error?.code, -32602);
});

test('a client subscribes to a hundred resources and no more, until it gives one up', async (t) => {
  const home = await served(t);
  const client = await openMcpPeer(t, home.socket, 'legacy');
  const subscribe = (at: number) => client.ask('resources/subscribe', { uri: uriOf(home, `app/${at}`) });
  for (let at = 0; at < 100; at++) assert.ok((await subscribe(at)).result);
  assert.equal((await subscribe(100)).error?.code, -32600);
  await client.result('resources/unsubscribe', { uri: uriOf(home, 'app/0') });
  assert.ok((await subscribe(100)).result);
});

test('a legacy client hears of nothing by a method that it does not have', async (t) => {
  const home = await served(t);
  const client = await openMcpPeer(t, home.socket, 'legacy');
  const [file, directory] = [uriOf(home, 'app/a.ts'), uriOf(home, 'app/sub')];
  const listen = { notifications: { resourceSubscriptions: [file] } };
  assert.equal((await client.ask('subscriptions/listen', listen)).error?.code, -32601);
  await client.result('resources/subscribe', { uri: directory });
  writeFileSync(join(home.home, 'app/a.ts'), 'changed');
  writeFileSync(join(home.home, 'app/sub/new'), '');
  // Both are looked at in one round.
  assert.equal((await client.notice()).params.uri, directory);
  assert.deepEqual(client.peer.unread, []);
});

test('a legacy client that has not said that it is ready hears of no change', async (t) => {
  const home = await served(t);
  const client = new McpPeer(await connectPeer(t, home.socket), 'legacy');
  const clientInfo = { name: 'test', version: '1' };
  await client.result('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  home.policy(`${POLICY}  - { id: more, allow: [other] }\n`);
  // Served all the same.
  for (let count = 1; count === 1; ) count = (await client.result('resources/list')).resources.length;
  assert.deepEqual(client.peer.received.join('').match(/list_changed"/g), null);
});

test('requests of all kinds of ids are answered by their ids, however many are under way', async (t) => {
  const home = await served(t);
  const client = await openMcpPeer(t, home.socket, 'legacy');
  const ids = [0, '', 'a', -5, ...Array.from({ length: 300 }, (_, i) => `many-${i}`)];
  for (const id of ids) {
    client.peer.send({ jsonrpc: '2.0', id, method: 'resources/read', params: { uri: uriOf(home, 'app') } });
  }
  const answered = new Set<unknown>();
  while (answered.size < ids.length) answered.add((await client.peer.next()).id);
  assert.deepEqual(answered, new Set(ids));
});

test('a request with the id of one that is under way is refused', async (t) => {
  const home = await served(t);
  const client = await openMcpPeer(t, home.socket, 'legacy');
  const request = { jsonrpc: '2.0', id: 'x', method: 'resources/read', params: { uri: uriOf(home, 'app') } };
  const both = `${JSON.stringify(request)}\n`.repeat(2);
  client.peer.write(both);
  const replies = [await client.peer.next(), await client.peer.next()];
  assert.deepEqual(
    replies.map(({ id, error }) => [id, error?.code]),
    [
      ['x', -32600],
      ['x', undefined],
    ],
  );
  client.peer.send(request);
  assert.ok((await client.peer.next()).result);
});

test('a message that is no JSON-RPC gets an error, and the session goes on', async (t) => {
  const home = await served(t);
  const client = await openMcpPeer(t, home.socket, 'legacy');
  for (const message of [
    [],
    5,
    { jsonrpc: '1.0', id: 9, method: 'ping' },
    { jsonrpc: '2.0', id: 9, method: 'ping', params: 5 },
  ]) {
    client.peer.send(message);
    assert.ok([-32600, -32602].includes((await client.peer.next()).error?.code ?? 0));
  }
  for (const params of [{ _meta: null }, { _meta: 5 }, { _meta: [] }, { uri: {} }, { __proto__: null, uri: 1 }]) {
    assert.ok((await client.ask('resources/read', params)).error?.code === -32602);
  }
  await client.result('ping');
});

test('each request of a modern client is served in its own revision, or refused', async (t) => {
  const home = await served(t);
  const client = await openMcpPeer(t, home.socket, 'modern');
  await client.result('tools/list');
  const version = 'io.modelcontextprotocol/protocolVersion';
  for (const method of ['tools/list', 'server/discover', 'subscriptions/listen', 'nothing']) {
    const params = { _meta: { ...MODERN_META, [version]: '2099-01-01' } };
    client.peer.send({ jsonrpc: '2.0', id: method, method, params });
    const { id, error } = await client.peer.next();
    assert.deepEqual(
      [id, error?.code, error?.data],
      [method, -32022, { supported: ['2026-07-28'], requested: '2099-01-01' }],
    );
  }
  client.peer.send({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/list',
    params: { _meta: { ...MODERN_META, [version]: 5 } },
  });
  assert.equal((await client.peer.next()).error?.code, -32602);
  await client.result('tools/list');
});

/** Asks to hear of so many resources of `app`, from that one on. */
function listenTo(client: McpPeer, home: TestHome, [first, count]: readonly [number, number]): number {
  const uris = Array.from({ length: count }, (_, i) => uriOf(home, `app/${first + i}`));
  return client.send('subscriptions/listen', { notifications: { resourceSubscriptions: uris } });
}

test('a modern client listens to a hundred resources or is refused, and gets no part of what it asks for', async (t) => {
  const home = await served(t);
  const client = await openMcpPeer(t, home.socket, 'modern');
  const refused = await client.reply(listenTo(client, home, [0, 101]));
  assert.deepEqual(
    [refused.error?.code, refused.error?.message],
    [-32600, 'At most 100 resources can be subscribed to'],
  );
  // The same one twice is one, and what was refused does not count.
  listenTo(client, home, [0, 60]);
  await client.notice();
  const half = listenTo(client, home, [20, 80]);
  await client.notice();
  assert.equal((await client.reply(listenTo(client, home, [100, 1]))).error?.code, -32600);
  client.notify('notifications/cancelled', { requestId: half });
  listenTo(client, home, [100, 40]);
  const { params } = await client.notice();
  assert.equal(params.notifications.resourceSubscriptions.length, 40);
  assert.equal((await client.reply(listenTo(client, home, [200, 1]))).error?.code, -32600);
});

test('what a modern client asks to hear of in a wrong way, it does not hear of', async (t) => {
  const home = await served(t);
  const client = await openMcpPeer(t, home.socket, 'modern');
  const uris = Array.from({ length: 100 }, (_, i) => uriOf(home, `app/${i}`));
  const wrong = { notifications: { resourceSubscriptions: uris, toolsListChanged: 'yes' } };
  assert.equal((await client.ask('subscriptions/listen', wrong)).error?.code, -32602);
  listenTo(client, home, [100, 100]);
  assert.equal((await client.notice()).params.notifications.resourceSubscriptions.length, 100);
});

test('the id of what a modern client listens to is in use until it listens no longer', async (t) => {
  const home = await served(t);
  const client = await openMcpPeer(t, home.socket, 'modern');
  const uri = uriOf(home, 'app/a.ts');
  const send = (method: string, params: object = {}) =>
    client.peer.send({ jsonrpc: '2.0', id: 'x', method, params: { ...params, _meta: MODERN_META } });
  const listen = { notifications: { resourceSubscriptions: [uri] } };
  send('subscriptions/listen', listen);
  await client.notice();
  for (const method of ['subscriptions/listen', 'tools/list', 'nothing']) {
    send(method, listen);
    assert.equal((await client.peer.next()).error?.code, -32600, method);
  }
  await client.result('resources/read', { uri });
  writeFileSync(join(home.home, 'app/a.ts'), 'changed');
  assert.equal((await client.notice()).params.uri, uri);
  client.notify('notifications/cancelled', { requestId: 'x' });
  send('tools/list');
  assert.ok((await client.peer.next()).result);
});
