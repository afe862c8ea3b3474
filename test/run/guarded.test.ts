import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import type { LaunchPlan } from '../../src/core/protocol.ts';
import { viewOf } from '../support/fake-daemon.ts';
import { GUARDED_TREE, guardedPlaces, isHeld, plainlyNamed, randomArguments } from '../support/guarded-tree.ts';
import { type Json, useRun } from '../support/run-host.ts';
import { type RunSetup, setUpRun } from '../support/run-setup.ts';
import { makeTree } from '../support/tree.ts';

const program = useRun();

/** Between host and server, after the handshake. The server knows no tools: what reaches it is what it has received. */
async function setUp(t: TestContext, plan: Partial<LaunchPlan> = {}): Promise<RunSetup> {
  const setup = await setUpRun(t, program(), { plan });
  await setup.host.initialize();
  return setup;
}

function callOf(path: string, id: unknown = 7): Json {
  return { id, method: 'tools/call', params: { name: 'read', arguments: { path } } };
}

/** What the server has received since the handshake. */
async function reached({ host }: RunSetup): Promise<readonly string[]> {
  return ((await host.ask('received')) as string[]).slice(2, -1);
}

describe('rootsd run, the guard', () => {
  it('passes a call that names what is allowed, byte for byte', async (t) => {
    const setup = await setUp(t);
    const line = `{ "jsonrpc":"2.0","id":7.0,"method" : "tools/call","params":{"arguments":{"path":"${setup.base}/a/\\u00e9","n":1e400}}}`;
    setup.host.write(`${line}\n`);
    assert.deepEqual(await reached(setup), [line]);
  });

  it('answers a call that names what is not allowed, and the server never sees it', async (t) => {
    const setup = await setUp(t);
    const { host, base } = setup;
    host.send(callOf(`${base}/b/f`));
    const { result } = (await host.next(({ id }) => id === 7)) as { result: { isError: boolean; content: Json[] } };
    assert.equal(result.isError, true);
    const text = `Access denied by rootsd: "${base}/b/f" (in "path") lies outside of what this server may use. This server may use "${base}/a" (read-write)`;
    assert.deepEqual(result.content, [{ type: 'text', text }]);
    assert.deepEqual(await reached(setup), []);
  });

  it('holds a long call until it is judged, and passes it whole', async (t) => {
    const setup = await setUp(t);
    const { host, base } = setup;
    const content = 'é"\\'.repeat(500_000);
    for (const [id, name] of ['a', 'b', 'a'].entries()) {
      const params = { arguments: { content, path: `${base}/${name}/f` } };
      host.send({ id, method: 'tools/call', params });
    }
    const { result } = (await host.next(({ id }) => id === 1)) as { result: { isError: boolean } };
    assert.equal(result.isError, true);
    const ids = (await reached(setup)).map((line) => (JSON.parse(line) as Json).id);
    assert.deepEqual(ids, [0, 2]);
  });

  it('judges the members of a batch singly', async (t) => {
    const setup = await setUp(t);
    const { host, base } = setup;
    const [inside, outside] = [callOf(`${base}/a`, 1), callOf(`${base}/b`, 2)];
    host.write(`${JSON.stringify([inside, outside, { jsonrpc: '2.0', method: 'notifications/x' }])}\n`);
    await host.next(({ id, result }) => id === 2 && (result as { isError: boolean }).isError);
    assert.deepEqual(
      (await reached(setup)).map((line) => JSON.parse(line)),
      [[inside, { jsonrpc: '2.0', method: 'notifications/x' }]],
    );
  });

  it('answers other requests with an error', async (t) => {
    const setup = await setUp(t);
    const { error } = await setup.host.request('resources/read', { uri: 'file:///etc/passwd' });
    assert.equal((error as { code: number }).code, -32602);
    assert.deepEqual(await reached(setup), []);
  });

  it('lets nothing through that may be a call to others and is no message to us', async (t) => {
    const setup = await setUp(t);
    const call = '"method":"tools/call","params":{"arguments":{"path":"/etc","n":NaN}}';
    for (const [text, answeredId, code] of [
      [`{"id":1,${call}}`, 1, -32600],
      [`{"x":NaN,"id":1,${call}}`, null, -32700],
    ] as const) {
      setup.host.write(`${text}\n`);
      const { error } = await setup.host.next(({ id }) => id === answeredId);
      assert.equal((error as { code: number }).code, code);
    }
    assert.deepEqual(await reached(setup), []);
  });

  it('holds from the moment at which the view changes', async (t) => {
    const setup = await setUp(t);
    const { daemon, host, base } = setup;
    await daemon.next('rootsd/ack');
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    await daemon.next('rootsd/ack');
    host.send(callOf(`${base}/a`, 1));
    host.send(callOf(`${base}/b`, 2));
    await host.next(({ id, result }) => id === 1 && (result as { isError: boolean }).isError);
    // The notice that the list has changed is among them.
    assert.deepEqual(
      (await reached(setup)).flatMap((line) => (JSON.parse(line) as Json).id ?? []),
      [2],
    );
  });

  it('holds no later than it is acknowledged, also before a server that need not be told', async (t) => {
    const setup = await setUp(t, { roots: false });
    const { daemon, host, base } = setup;
    await daemon.next('rootsd/ack');
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    host.send(callOf(`${base}/a`));
    const { result } = (await host.next(({ id }) => id === 7)) as { result: { isError: boolean } };
    assert.equal(result.isError, true);
    assert.deepEqual(await reached(setup), []);
  });

  it('lets nothing that names a path outside reach the server, however arguments are built', async (t) => {
    const setup = await setUp(t);
    const { daemon, host } = setup;
    const base = makeTree(t, GUARDED_TREE);
    const boundary = guardedPlaces(base);
    await daemon.next('rootsd/ack');
    daemon.publish({ ...viewOf(Object.fromEntries(boundary.map(({ root, path }) => [root, path])), '02'), boundary });
    await daemon.next('rootsd/ack');
    const sent = fc.sample(randomArguments(base), 400);
    for (const [id, value] of sent.entries()) {
      host.send({ id, method: 'tools/call', params: { name: 't', arguments: { value } } });
    }
    const calls = (await reached(setup)).map((line) => JSON.parse(line) as Json).filter(({ id }) => id !== undefined);
    const passed = calls.map(({ params }) => (params as { arguments: { value: unknown } }).arguments.value);
    for (const named of passed.flatMap((value) => plainlyNamed({ value }))) assert.ok(isHeld(base, named), named);
    const refused = host.messages.filter(({ result }) => (result as { isError?: boolean } | undefined)?.isError);
    assert.equal(refused.length + passed.length, sent.length, 'each is refused, or reaches the server');
    assert.ok(passed.length > 50 && refused.length > 50, `${passed.length} reached it, ${refused.length} were refused`);
  });

  it('judges a call that names very many places while the server is heard', async (t) => {
    const { base, host } = await setUp(t);
    host.send({ id: 1, method: 'later', params: { ms: 0 } });
    await host.ask('echo');
    host.send({ id: 2, method: 'later', params: { ms: 1 } });
    const paths = Array.from({ length: 40_000 }, (_, i) => `${base}/a/${i}`);
    host.send({ id: 3, method: 'tools/call', params: { name: 't', arguments: { paths: [...paths, '/etc'] } } });
    host.send({ id: 4, method: 'echo' });
    await host.next(({ id }) => id === 4);
    const answered = host.messages.map(({ id }) => id).filter((id) => typeof id === 'number' && id > 1 && id < 5);
    assert.deepEqual(answered, [2, 3, 4]);
  });

  it('judges nothing where the policy turns it off', async (t) => {
    const setup = await setUp(t, { guard: 'off' });
    setup.host.send(callOf('/etc/passwd'));
    assert.equal((await reached(setup)).length, 1);
  });

  /** Asks the server, which answers with this result. */
  const told = async ({ host }: RunSetup, method: string, result: string): Promise<unknown> => {
    const script = [`{"jsonrpc":"2.0","result":${result},"id":$ID}`];
    return host.ask(method, { name: method, arguments: { script } });
  };

  it('remembers which tools only read, however long their list is', async (t) => {
    const setup = await setUp(t);
    const { daemon, host, base } = setup;
    const view = viewOf({ a: `${base}/a` }, '02');
    await daemon.next('rootsd/ack');
    daemon.publish({ ...view, boundary: view.boundary.map((entry) => ({ ...entry, access: 'read-only' })) });
    await daemon.next('rootsd/ack');
    const tools = [{ name: 'read', description: 'x'.repeat(50_000), annotations: { readOnlyHint: true } }];
    const call = (tool: string): Promise<unknown> =>
      host.ask('tools/call', { name: tool, arguments: { path: `${base}/a/f`, script: ['{"id":$ID,"result":1}'] } });
    assert.equal(((await call('read')) as { isError: boolean }).isError, true);
    assert.deepEqual(await told(setup, 'tools/list', JSON.stringify({ tools })), { tools });
    assert.equal(await call('read'), 1);
    assert.equal(((await call('write')) as { isError: boolean }).isError, true);
  });

  it('takes out of resources and completions what names a place outside, and leaves all else as it is', async (t) => {
    const setup = await setUp(t);
    const { base, host } = setup;
    const resource = (uri: string): string => `{ "uri": ${JSON.stringify(uri)}, "n":1.0}`;
    const [inside, other] = [resource(`file://${base}/a/f`), resource('memo:x')];
    const outside = [resource(`file://${base}/b/f`), resource('file:///etc/passwd'), resource('/etc/passwd')];
    const list = (all: readonly string[]): string => `{"x":1.0,"resources":[${all.join(',')}]}`;
    await told(setup, 'resources/list', list([outside[0] ?? '', inside, ...outside.slice(1), other]));
    assert.ok(host.output.includes(list([inside, other])), host.output.toString());
    const values = [`${base}/a/f`, '/etc', 'word', `file://${base}/b`];
    const many = Array.from({ length: 3_000 }, (_, i) => resource(`file://${base}/${i % 2 === 0 ? 'a' : 'b'}/${i}`));
    await told(setup, 'resources/list', list(many));
    assert.ok(host.output.includes(list(many.filter((_, i) => i % 2 === 0))), 'also of a long list');
    const completion = await told(setup, 'completion/complete', JSON.stringify({ completion: { values } }));
    assert.deepEqual(completion, { completion: { values: [values[0], 'word'] } });
  });
});
