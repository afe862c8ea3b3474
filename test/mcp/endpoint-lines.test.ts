// The endpoint on a session without a daemon: what it says it can do, what it tells and when, and what becomes of its own faults.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { openEndpoint } from '../../src/mcp/endpoint.ts';
import type { EndpointSession } from '../../src/mcp/endpoint-session.ts';
import type { Reply } from '../socket/raw-peer.ts';
import { FakeClock } from '../support/clock.ts';
import { endpointSession } from '../support/endpoint-session.ts';
import { ERAS, type Era, MODERN_META } from '../support/mcp-peer.ts';
import { makeTree } from '../support/tree.ts';

/** A client of the endpoint, in this process. */
function opened(t: TestContext, era: Era, { fetch }: Partial<Pick<EndpointSession, 'fetch'>> = {}) {
  const base = makeTree(t, ['file app/a one', 'dir more']);
  const policy = (more = '') =>
    `roots: { app: { path: ${base}/app }, more: { path: ${base}/more } }\nrules:\n  - { id: a, allow: [app] }\n${more}`;
  const real = endpointSession(t, policy());
  const session = fetch === undefined ? real : { ...real, fetch };
  const [sent, bugs, clock] = [[] as Reply[], [] as unknown[], new FakeClock()];
  let wake = () => {};
  const endpoint = openEndpoint({
    session,
    version: '1',
    clock,
    send: (json) => {
      sent.push(JSON.parse(json));
      wake();
    },
    hold: () => {},
    release: () => {},
    onClose: () => {},
    onBug: (error) => bugs.push(error),
  });
  t.after(() => endpoint.closed());
  /** The first message that has come, or comes, of which that is so. */
  const came = async (isIt: (message: Reply) => boolean): Promise<Reply> => {
    for (;;) {
      const at = sent.findIndex(isIt);
      if (at !== -1) return sent.splice(at, 1)[0] as Reply;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const withMeta = (params: object) => (era === 'modern' ? { ...params, _meta: MODERN_META } : params);
  let lastId = 0;
  const ask = (method: string, params: object = {}) => {
    const id = `${method} ${++lastId}`;
    endpoint.receive({ jsonrpc: '2.0', id, method, params: withMeta(params) } as JSONRPCMessage);
    return came((message) => message.id === id);
  };
  const notify = (method: string, params: object = {}) =>
    endpoint.receive({ jsonrpc: '2.0', method, params: withMeta(params) } as JSONRPCMessage);
  const notice = (method: string) => came((message) => message.method === `notifications/${method}`);
  const allow = (more: string) => {
    real.policy(policy(more));
    endpoint.changed();
  };
  /** Opens; what the endpoint says that it can do. */
  const open = async () => {
    if (era === 'modern') return (await ask('server/discover')).result.capabilities;
    const clientInfo = { name: 'test', version: '1' };
    const { result } = await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    notify('notifications/initialized');
    return result.capabilities;
  };
  return {
    base,
    endpoint,
    sent,
    bugs,
    clock,
    ask,
    notify,
    notice,
    allow,
    open,
    real,
    uri: (path: string) => `file://${base}/${path}`,
  };
}

/** Lets all that is under way come to its end. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

for (const era of ERAS) {
  test(`a ${era} client is told what the endpoint can do, and can have all of it`, async (t) => {
    const { ask, open, uri, sent } = opened(t, era);
    assert.deepEqual(await open(), {
      resources: { subscribe: true, listChanged: true },
      tools: {},
      prompts: { listChanged: true },
      completions: {},
    });
    const ref = { type: 'ref/resource', uri: 'file:///{+path}' };
    const requests: [method: string, params: object][] = [
      ['resources/list', {}],
      ['resources/templates/list', {}],
      ['resources/read', { uri: uri('app') }],
      ['tools/list', {}],
      ['tools/call', { name: 'list_roots' }],
      ['prompts/list', {}],
      ['completion/complete', { ref, argument: { name: 'path', value: '' } }],
    ];
    if (era === 'legacy')
      requests.push(['resources/subscribe', { uri: uri('app') }], ['resources/unsubscribe', { uri: uri('app') }]);
    for (const [method, params] of requests) assert.ok((await ask(method, params)).result, method);
    for (const method of ['logging/setLevel', 'roots/list', 'sampling/createMessage']) {
      assert.equal((await ask(method)).error?.code, -32601, method);
    }
    assert.deepEqual(sent, [], 'told without being asked');
  });

  test(`a ${era} client is told of each change once, and of none that is none`, async (t) => {
    const { endpoint, ask, open, allow, notice, sent, notify } = opened(t, era);
    await open();
    if (era === 'modern') {
      const notifications = { resourcesListChanged: true, promptsListChanged: true };
      void ask('subscriptions/listen', { notifications });
      await notice('subscriptions/acknowledged');
    }
    endpoint.changed();
    allow('');
    await ask('tools/list');
    assert.deepEqual(sent, []);
    allow('  - { id: b, allow: [more] }\n');
    await notice('resources/list_changed');
    allow('  - { id: b, allow: [more] }\nprompts: { p: { template: x } }\n');
    await notice('prompts/list_changed');
    allow('  - { id: b, allow: [more] }\nprompts: { p: { template: another } }\n');
    await ask('tools/list');
    assert.deepEqual(sent, [], 'the list of prompts says nothing of their texts');
    notify('notifications/cancelled', { requestId: 'nothing' });
  });

  test(`a ${era} client completes anew what was completed before a change`, async (t) => {
    const { base, ask, open, allow } = opened(t, era);
    await open();
    const ref = { type: 'ref/resource', uri: 'file:///{+path}' };
    const values = async () =>
      (await ask('completion/complete', { ref, argument: { name: 'path', value: '' } })).result.completion.values;
    const at = (name: string) => `${base.slice(1)}/${name}/`;
    assert.deepEqual(await values(), [at('app')]);
    allow('  - { id: b, allow: [more] }\n');
    assert.deepEqual(await values(), [at('app'), at('more')]);
  });

  test(`a ${era} client is told nothing of a fault of ours, which is logged, and is served on`, async (t) => {
    const error = new Error('a path that nobody is to see');
    const { bugs, ask, open, uri } = opened(t, era, {
      fetch: async () => {
        throw error;
      },
    });
    await open();
    const reply = await ask('resources/read', { uri: uri('app/a') });
    assert.deepEqual(reply.error, { code: -32603, message: 'Internal error' });
    assert.deepEqual(bugs, [error]);
    assert.ok((await ask('tools/list')).result);
  });

  test(`of a ${era} client that is gone nothing is looked at any more`, async (t) => {
    const { base, endpoint, ask, open, uri, clock, real, sent, notice } = opened(t, era);
    await open();
    if (era === 'legacy') await ask('resources/subscribe', { uri: uri('app/a') });
    else {
      void ask('subscriptions/listen', { notifications: { resourceSubscriptions: [uri('app/a')] } });
      await notice('subscriptions/acknowledged');
    }
    await settle();
    endpoint.closed();
    const looks = real.fetched.length;
    writeFileSync(join(base, 'app/a'), 'another');
    await clock.advance(10_000);
    await settle();
    assert.deepEqual([real.fetched.length, sent.filter(({ method }) => method !== undefined)], [looks, []]);
  });
}

test('a legacy client opens in its own revision, once, and is told what is wrong with how it does', async (t) => {
  const clientInfo = { name: 'test', version: '1' };
  const good = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  for (const protocolVersion of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', 'unknown']) {
    const { ask } = opened(t, 'legacy');
    const { result } = await ask('initialize', { ...good, protocolVersion });
    assert.equal(result.protocolVersion, protocolVersion === 'unknown' ? '2025-11-25' : protocolVersion);
  }
  const { ask } = opened(t, 'legacy');
  const rows: [params: object, what: string][] = [
    [{}, '"protocolVersion" must be a string'],
    [{ ...good, protocolVersion: 5 }, '"protocolVersion" must be a string'],
    [{ ...good, capabilities: undefined }, '"capabilities" must be an object'],
    [{ ...good, clientInfo: 'me' }, '"clientInfo" must be an object'],
    [{ ...good, clientInfo: { name: 'me' } }, '"clientInfo.version" must be a string'],
  ];
  for (const [params, what] of rows) {
    assert.deepEqual((await ask('initialize', params)).error, { code: -32602, message: `Invalid params: ${what}` });
  }
  assert.ok((await ask('initialize', good)).result);
  const again = { code: -32600, message: 'Invalid request: the session is initialized already' };
  assert.deepEqual((await ask('initialize', good)).error, again);
  assert.ok((await ask('tools/list')).result);
});

test('a client that probes for the modern era may open the legacy one after it', async (t) => {
  const { ask, endpoint } = opened(t, 'legacy');
  const probe = { jsonrpc: '2.0', id: 'probe', method: 'server/discover', params: { _meta: MODERN_META } } as const;
  endpoint.receive(probe);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  assert.ok((await ask('initialize', params)).result);
  assert.ok((await ask('ping')).result);
});

test('a legacy client that has not said that it is ready is told nothing', async (t) => {
  const { ask, allow, sent, notify, notice } = opened(t, 'legacy');
  const clientInfo = { name: 'test', version: '1' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  allow('  - { id: b, allow: [more] }\n');
  await ask('ping');
  assert.deepEqual(sent, []);
  notify('notifications/initialized');
  await ask('ping');
  allow('');
  await notice('resources/list_changed');
});

test('a legacy client subscribes to what may come to be in a root, and to nothing outside', async (t) => {
  const { ask, open, uri } = opened(t, 'legacy');
  await open();
  assert.ok((await ask('resources/subscribe', { uri: uri('app/new') })).result);
  for (const path of ['more', 'nothing', 'app/../more']) {
    assert.equal((await ask('resources/subscribe', { uri: uri(path) })).error?.code, -32602, path);
  }
  assert.equal((await ask('resources/subscribe', { uri: 'https://example.org/' })).error?.code, -32602);
});
