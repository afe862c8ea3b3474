import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { LaunchPlan } from '../../src/core/protocol.ts';
import { viewOf } from '../support/fake-daemon.ts';
import { type Json, useRun } from '../support/run-host.ts';
import { type RunSetup, setUpRun } from '../support/run-setup.ts';

const program = useRun();

const setUp = (t: TestContext, plan: Partial<LaunchPlan> = {}): Promise<RunSetup> => setUpRun(t, program(), { plan });
const rootsIn = (answer: unknown): readonly Json[] => (answer as { result: { roots: Json[] } }).result.roots;
const namesIn = (answer: unknown): readonly unknown[] => rootsIn(answer).map(({ name }) => name);

describe('rootsd run, initialize', () => {
  /** What the host says of its capabilities, and what the server gets; all other bytes are the same. */
  const ROWS: readonly (readonly [string, string])[] = [
    ['{}', '{"roots":{"listChanged":true}}'],
    ['{"roots":{}}', '{"roots":{"listChanged":true}}'],
    ['{"roots":{"listChanged":false,"x":1}}', '{"roots":{"listChanged":true}}'],
    ['{"sampling":{},"roots":{}, "x": 1.0}', '{"sampling":{},"roots":{"listChanged":true}, "x": 1.0}'],
    ['{ "experimental": {"a":[1,2]} }', '{"roots":{"listChanged":true}, "experimental": {"a":[1,2]} }'],
  ];
  for (const [given, got] of ROWS) {
    it(`announces roots in ${given} and changes nothing else`, async (t) => {
      const { host } = await setUp(t);
      const line = (capabilities: string): string =>
        `{"jsonrpc": "2.0","id":9007199254740993,"method":"initialize","params":{"big":1e400,"capabilities":${capabilities},"roots":["file:///x"],"s":"\\u00e9\\/é"}, "extra":null}`;
      host.write(`${line(given)}\n`);
      host.send({ id: 'q', method: 'received' });
      const { result } = await host.next(({ id }) => id === 'q');
      assert.equal((result as string[])[0], line(got));
    });
  }

  /** Each begins like a message that is rewritten or kept, and is none. */
  for (const broken of [
    '{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"capabilities":{"x',
    '{"jsonrpc":"2.0","id":7,"method":"initialize","params":[{"capabilities":{}}',
    '{"jsonrpc":"2.0","method":"notifications/initialized","params":{',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":',
    '{"jsonrpc":"2.0","id":7,"method":"resources/subscribe","params":{"uri":"',
    '{"jsonrpc":"2.0","id":7,"method":"logging/setLevel"',
  ]) {
    it(`passes on as it is, where nobody guards, what is no JSON to its end: ${broken}`, async (t) => {
      const { host } = await setUp(t, { guard: 'off' });
      host.write(`${broken}\n`);
      await host.initialize();
      assert.equal(((await host.ask('received')) as string[])[0], broken);
    });
  }

  it('takes the capability out where the policy says "roots: off", and refuses roots/list with a reason', async (t) => {
    const { host } = await setUp(t, { roots: false });
    await host.initialize({ roots: { listChanged: true }, sampling: {} });
    const [first] = (await host.ask('received')) as string[];
    assert.deepEqual(JSON.parse(first ?? '').params.capabilities, { sampling: {} });
    const { error } = (await host.ask('roots')) as { error: { code: number; data: { reason: string } } };
    assert.equal(error.code, -32601);
    assert.match(error.data.reason, /roots: off/);
    assert.equal(await host.ask('echo', { still: 'works' }).then(JSON.stringify), '{"still":"works"}');
  });
});

describe('rootsd run, roots/list', () => {
  it('is answered from the policy and never reaches the host', async (t) => {
    const { base, host } = await setUp(t);
    await host.initialize();
    assert.deepEqual(rootsIn(await host.ask('roots')), [
      { uri: `file://${base}/a`, name: 'a', _meta: { 'io.rootsd/access': 'read-write' } },
    ]);
    assert.deepEqual(
      host.messages.filter(({ method }) => method !== undefined),
      [],
    );
  });

  it('is answered before initialized, and before initialize has been answered', async (t) => {
    const { host } = await setUp(t);
    assert.deepEqual(namesIn(await host.ask('roots')), ['a']);
  });

  /** Every spelling of the request gets one answer, under the very id. */
  const ROWS: readonly (readonly [string, unknown, string])[] = [
    ['id 0', 0, '{"jsonrpc":"2.0","id":0,"method":"roots/list"}'],
    ['an empty id', '', '{"jsonrpc":"2.0","id":"","method":"roots/list"}'],
    ['a text id', 'ä"\\', '{"jsonrpc":"2.0","id":"ä\\"\\\\","method":"roots/list"}'],
    ['a fraction as id', 1.5, '{"jsonrpc":"2.0","id":1.5,"method":"roots/list"}'],
    ['empty params', 1, '{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{}}'],
    [
      'params with _meta alone',
      1,
      '{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"_meta":{"progressToken":1}}}',
    ],
    ['an escaped method', 1, '{"jsonrpc":"2.0","id":1,"method":"\\u0072oots\\/list"}'],
    ['an escaped key', 1, '{"jsonrpc":"2.0","id":1,"\\u006dethod":"roots/list"}'],
    ['blanks everywhere', 1, '  { "method" : "roots/list" , "id" : 1 , "jsonrpc" : "2.0" }  '],
    ['the id last', 1, '{"method":"roots/list","params":{"_meta":{"a":"b"}},"jsonrpc":"2.0","id":1}'],
    [
      'the method last, 100 KB later',
      1,
      `{"id":1,"params":{"_meta":{"a":"${'x'.repeat(100_000)}"}},"method":"roots/list"}`,
    ],
    ['a second method, which a host may read', 1, '{"jsonrpc":"2.0","id":1,"method":"x","method":"roots/list"}'],
    ['a second method, escaped', 1, '{"jsonrpc":"2.0","id":1,"method":"x","method":"roots\\/list"}'],
    ['a second method in front', 1, '{"jsonrpc":"2.0","id":1,"method":"roots/list","method":"x"}'],
    ['a result in front', 1, '{"jsonrpc":"2.0","id":1,"result":{},"method":"roots/list"}'],
    [
      'a second method, 100 KB later',
      1,
      `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"${'x'.repeat(100_000)}"},"method":"roots/list"}`,
    ],
    ['a CRLF line end', 1, '{"jsonrpc":"2.0","id":1,"method":"roots/list"}\r'],
  ];
  for (const [what, rootsId, raw] of ROWS) {
    it(`is answered with ${what}`, async (t) => {
      const { host } = await setUp(t);
      await host.initialize();
      const answer = (await host.ask('roots', { rootsId, raw })) as Json;
      assert.deepEqual(namesIn(answer), ['a']);
      assert.deepEqual(answer.id, rootsId);
      assert.equal(host.output.includes('roots/list'), false);
    });
  }

  it('is answered within a batch; the rest of the batch passes', async (t) => {
    const { host } = await setUp(t);
    await host.initialize();
    const raw =
      '[{"jsonrpc":"2.0","id":"r","method":"roots/list"},{"jsonrpc":"2.0","method":"notifications/x","params":{"n":1.0}}]';
    assert.deepEqual(namesIn(await host.ask('roots', { raw })), ['a']);
    assert.ok(host.output.includes('[{"jsonrpc":"2.0","method":"notifications/x","params":{"n":1.0}}]\n'));
  });

  it('without an id gets no answer and does not reach the host', async (t) => {
    const { host } = await setUp(t);
    await host.initialize();
    await host.ask('raw', { text: '{"jsonrpc":"2.0","method":"roots/list"}\n' });
    await host.ask('echo');
    assert.equal(host.output.includes('roots/list'), false);
    assert.equal(
      ((await host.ask('received')) as string[]).some((line) => line.includes('"result"')),
      false,
    );
  });

  it('is answered while a call of the host is under way', async (t) => {
    const { host } = await setUp(t);
    await host.initialize();
    host.send({ id: 'slow', method: 'never' });
    assert.deepEqual(namesIn(await host.ask('roots')), ['a']);
  });
});

describe('rootsd run, a view that changes', () => {
  it('notifies the server once, and answers with the new list', async (t) => {
    const { base, daemon, host } = await setUp(t);
    await host.initialize();
    assert.deepEqual(namesIn(await host.ask('roots')), ['a']);
    daemon.publish(viewOf({ a: `${base}/a`, b: `${base}/b` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    assert.deepEqual(namesIn(await host.ask('roots')), ['a', 'b']);
    assert.equal(await host.ask('list-changed'), 1);
  });

  it('says nothing where the list is the same, and acknowledges all the same', async (t) => {
    const { base, daemon, host } = await setUp(t);
    await host.initialize();
    daemon.publish(viewOf({ a: `${base}/a` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    assert.equal(await host.ask('list-changed'), 0);
  });

  it('is a change where the same path is another directory', async (t) => {
    const { base, daemon, host } = await setUp(t);
    await host.initialize();
    const view = viewOf({ a: `${base}/a` }, '02');
    daemon.publish({ ...view, boundary: view.boundary.map((entry) => ({ ...entry, identity: '1:2:3' })) });
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    assert.equal(await host.ask('list-changed'), 1);
  });

  it('notifies nobody before initialized, but then a server that had asked', async (t) => {
    const { daemon, host } = await setUp(t);
    await host.request('initialize', { capabilities: {} });
    await host.ask('roots');
    await daemon.next('rootsd/ack');
    daemon.publish(viewOf({}, '02'));
    await host.said('rootsd allow');
    assert.equal(await host.ask('list-changed'), 0);
    const acknowledged = daemon.received.some(({ method }) => method === 'rootsd/ack');
    assert.equal(acknowledged, false, 'nothing is acknowledged of which the server has not heard');
    host.send({ method: 'notifications/initialized' });
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    assert.equal(await host.ask('list-changed'), 1);
    assert.deepEqual(namesIn(await host.ask('roots')), ['no access (rootsd)']);
    const lines = (await host.ask('received')) as string[];
    const at = (text: string): number => lines.findIndex((line) => line.includes(text));
    assert.ok(at('list_changed') > at('notifications/initialized'));
  });

  it('acknowledges what a server has asked for by itself', async (t) => {
    const { daemon, host } = await setUp(t);
    await host.request('initialize', { capabilities: {} });
    await host.ask('roots');
    daemon.publish(viewOf({}, '02'));
    await host.said('rootsd allow');
    await host.ask('roots');
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
  });

  it('is followed where the policy says "roots: off", and "on" again: off is told like a revocation', async (t) => {
    const { base, daemon, host } = await setUp(t);
    const allowed = viewOf({ a: `${base}/a` });
    await host.initialize();
    assert.deepEqual(namesIn(await host.ask('roots')), ['a']);
    daemon.plan = { ...daemon.plan, roots: false };
    daemon.publish({ ...allowed, generation: '02' });
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    assert.equal(await host.ask('list-changed'), 1);
    assert.deepEqual(namesIn(await host.ask('roots')), ['no access (rootsd)']);
    daemon.plan = { ...daemon.plan, roots: true };
    daemon.publish({ ...allowed, generation: '03' });
    while ((await daemon.next('rootsd/ack')).params.generation !== '03');
    assert.equal(await host.ask('list-changed'), 2);
    assert.deepEqual(namesIn(await host.ask('roots')), ['a']);
  });

  it('is followed where the policy says "roots: off" to a server that has no list yet: it gets none', async (t) => {
    const { base, daemon, host } = await setUp(t);
    await host.initialize();
    daemon.plan = { ...daemon.plan, roots: false };
    daemon.publish(viewOf({ a: `${base}/a` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    const { error } = (await host.ask('roots')) as { error: { code: number; data: { reason: string } } };
    assert.deepEqual([error.code, /roots: off/.test(error.data.reason)], [-32601, true]);
  });

  it('sends no notice for any number of roots/list', async (t) => {
    const { host } = await setUp(t);
    await host.initialize();
    for (let i = 0; i < 200; i++) await host.ask('roots', { rootsId: i });
    assert.equal(await host.ask('list-changed'), 0);
  });

  it('does not pass on the notice of the host', async (t) => {
    const { host } = await setUp(t);
    await host.initialize();
    host.send({ method: 'notifications/roots/list_changed' });
    assert.equal(await host.ask('list-changed'), 0);
  });
});

describe('rootsd run, where nothing is allowed', () => {
  it('tells an empty directory from the first answer on, says so once, and removes it at the end', async (t) => {
    const { base, daemon, host } = await setUp(t);
    daemon.publish(viewOf({}));
    await host.initialize();
    const [root] = rootsIn(await host.ask('roots'));
    assert.equal(root?.name, 'no access (rootsd)');
    const path = fileURLToPath(String(root?.uri));
    assert.deepEqual(readdirSync(path), []);
    assert.equal(statSync(path).mode & 0o222, 0);
    await host.said('rootsd allow PATH --server o');
    assert.ok(host.stderr.includes('/etc/rootsd/policies.d/fake.yaml'));
    daemon.publish(viewOf({ a: `${base}/a` }, '02'));
    daemon.publish(viewOf({}, '03'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '03');
    assert.equal(host.stderr.split('rootsd allow').length, 2);
    host.process.stdin?.end();
    await host.ended;
    assert.throws(() => statSync(path), { code: 'ENOENT' });
  });

  it('tells another one where somebody has changed the first', async (t) => {
    const { daemon, host } = await setUp(t);
    daemon.publish(viewOf({}));
    await host.initialize();
    const [first] = rootsIn(await host.ask('roots'));
    const path = fileURLToPath(String(first?.uri));
    rmSync(path, { recursive: true });
    mkdirSync(path, { mode: 0o777 });
    const [second] = rootsIn(await host.ask('roots'));
    assert.notEqual(second?.uri, first?.uri);
    assert.deepEqual(readdirSync(fileURLToPath(String(second?.uri))), []);
  });
});

describe('rootsd run, a batch of the host', () => {
  /** Batches (revision 2025-03-26), and what the server gets of them. */
  const notice = '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}';
  const call = '{ "jsonrpc":"2.0", "id":1.0,"method":"nothing" }';
  const ROWS: readonly (readonly [string, string | null])[] = [
    [`[ ${call} , {"method":"notifications/x"}]  `, `[ ${call} , {"method":"notifications/x"}]  `],
    [`[${notice},${call}]`, `[${call}]`],
    [`[ ${call}, ${notice} ,${call}]`, `[${call},${call}]`],
    [`[${notice}]`, null],
    [`[[${call}],"x"]`, `[[${call}],"x"]`],
  ];
  for (const [given, got] of ROWS) {
    it(`passes but for what is ours: ${given}`, async (t) => {
      const { host } = await setUp(t, { guard: 'off' });
      host.write(`${given}\n`);
      assert.deepEqual(((await host.ask('received')) as string[]).slice(0, -1), got === null ? [] : [got]);
    });
  }
});
