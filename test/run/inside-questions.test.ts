// A question of the daemon, asked through a host of the modern era: within the result of the call that waits for the answer.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { ASKS, list, onlyQuestion, PATIENT, ROOTS, served } from '../support/asking-home.ts';
import { callOf, reached, refusal } from '../support/asking-run.ts';
import { type Json, OBEDIENT_SERVER, RunHost } from '../support/run-host.ts';
import { ROOTSD, type Served, type TestHome } from '../support/serve.ts';
import { ShownQuestions } from '../support/shown-questions.ts';

/** A key or a state of ours. */
const OURS = /rootsd-[0-9a-f]{8}/;
const FORMS = { elicitation: { form: {} } };
const metaOf = (capabilities: Json): Json => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': capabilities,
});

interface Setup {
  readonly home: TestHome;
  readonly daemon: Served;
  readonly host: RunHost;
}

/** A host that speaks the modern era alone. */
async function setUp(t: TestContext, policy = ASKS, config = PATIENT, tree?: readonly string[]): Promise<Setup> {
  const { home, daemon } = await served(t, policy, config, tree);
  const args = ['run', '--socket', home.socket, '--server', 'fs', '--', process.execPath, OBEDIENT_SERVER];
  return { home, daemon, host: new RunHost(t, { program: ROOTSD, args, env: home.env }) };
}

/** A call of a host that shows forms; with `more` in its parameters. */
function modernCall(path: string, id: unknown = 7, more: Json = {}, capabilities: Json = FORMS): Json {
  return callOf(path, id, { _meta: metaOf(capabilities), ...more });
}

interface AskedHere {
  readonly inputRequests: Readonly<Record<string, { readonly method: string; readonly params: Json }>>;
  readonly requestState: string;
  readonly resultType: string;
}

/** The questions by which a call is answered. */
async function askedIn(host: RunHost, id: unknown = 7): Promise<AskedHere> {
  const { result } = await host.next((message) => message.id === id);
  assert.equal((result as AskedHere).resultType, 'input_required');
  return result as AskedHere;
}

/** The same call again, with answers under our state: `response` to each question. */
function again(call: Json, id: unknown, { inputRequests, requestState }: AskedHere, response: unknown): Json {
  const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, response]));
  return { ...call, id, params: { ...(call.params as Json), inputResponses, requestState } };
}

const accept = (answer: unknown): Json => ({ action: 'accept', content: { answer } });
const resultOf = async (host: RunHost, id: unknown): Promise<unknown> =>
  (await host.next((message) => message.id === id)).result;

/** The calls that the server has got, as they came. */
async function linesOf(host: RunHost): Promise<readonly string[]> {
  return ((await host.ask('received')) as string[]).filter((line) => line.includes('tools/call'));
}

describe('rootsd run, a host of revision 2026-07-28 that shows forms', () => {
  it('is asked within the result of the call that waits; with its answer the call goes on as it was', async (t) => {
    const { home, host } = await setUp(t);
    const call = modernCall(join(home.home, 'a/f'));
    host.send(call);
    const asked = await askedIn(host);
    const { id, scopes } = await onlyQuestion(home);
    assert.deepEqual(Object.keys(asked.inputRequests), [`rootsd-${id}`]);
    const { method, params } = asked.inputRequests[`rootsd-${id}`] ?? assert.fail();
    assert.equal(method, 'elicitation/create');
    assert.match(String(params.message), /^rootsd: "fs" \(launched\) asks for read-write access\n/);
    const { properties } = params.requestedSchema as { readonly properties: { readonly answer: { enum: string[] } } };
    assert.deepEqual(properties.answer.enum, ['deny', ...scopes]);

    host.send(again(call, 8, asked, accept('8h')));
    assert.equal(await resultOf(host, 8), 'done');
    const [line, ...none] = await linesOf(host);
    const capabilities = { ...FORMS, roots: {} };
    assert.deepEqual(JSON.parse(line ?? ''), {
      jsonrpc: '2.0',
      ...modernCall(join(home.home, 'a/f'), 7, {}, capabilities),
      id: 8,
    });
    assert.deepEqual(none, []);
    assert.deepEqual(
      (await list(home)).history.map(({ event, channel, scope }) => [event, channel, scope]),
      [['approved', 'host', '8h']],
    );
    // From now on nobody is asked.
    host.send(modernCall(join(home.home, 'a/g'), 9));
    assert.equal(await resultOf(host, 9), 'done');
  });

  it('brings the server its own state and answers byte for byte, whichever round ours falls in', async (t) => {
    const { home, host } = await setUp(t);
    const of = (id: number, round: string): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"t",${round}"arguments":{"path":"${home.home}/a","script":["{\\"id\\":$ID,\\"result\\":\\"done\\"}"]},"_meta":${JSON.stringify(metaOf(FORMS))}}}`;
    const own = '"requestState":"s\\u00e9\\/世", "inputResponses": {"who" : {"action":"accept","n":1.0}},';
    host.write(`${of(7, own)}\n`);
    const { inputRequests, requestState } = await askedIn(host);
    const [key] = Object.keys(inputRequests);
    const ours = `"inputResponses":{"${key}":${JSON.stringify(accept('session'))}},"requestState":"${requestState}",`;
    host.write(`${of(8, ours)}\n`);
    assert.equal(await resultOf(host, 8), 'done');
    const [line = '', ...none] = await linesOf(host);
    assert.deepEqual(none, []);
    assert.ok(line.includes('"requestState":"s\\u00e9\\/世"'), line);
    assert.ok(line.includes('"inputResponses":{"who" : {"action":"accept","n":1.0}}'), line);
    assert.equal(OURS.test(line), false, line);
  });

  /** What the host brings in place of an answer, and why the call is refused then. */
  const REFUSED = /a person has refused it/;
  const NOBODY = /nobody can be asked now/;
  const ROWS: readonly (readonly [string, (call: Json, asked: AskedHere) => Json, RegExp])[] = [
    ['"deny"', (call, asked) => again(call, 8, asked, accept('deny')), REFUSED],
    ['a decline', (call, asked) => again(call, 8, asked, { action: 'decline' }), REFUSED],
    ['a cancel', (call, asked) => again(call, 8, asked, { action: 'cancel' }), NOBODY],
    ['a scope that is not offered', (call, asked) => again(call, 8, asked, accept('24h')), NOBODY],
    ['no content', (call, asked) => again(call, 8, asked, { action: 'accept' }), NOBODY],
    ['a text', (call, asked) => again(call, 8, asked, '8h'), NOBODY],
    ['null', (call, asked) => again(call, 8, asked, null), NOBODY],
    [
      'an answer to something else',
      (call, asked) => again(call, 8, { ...asked, inputRequests: { x: {} as never } }, accept('8h')),
      NOBODY,
    ],
    ['no answers', (call, asked) => again(call, 8, { ...asked, inputRequests: {} }, null), NOBODY],
    [
      'answers that are none',
      (call, asked) => ({
        ...call,
        id: 8,
        params: { ...(call.params as Json), inputResponses: 7, requestState: asked.requestState },
      }),
      NOBODY,
    ],
    [
      'its state alone',
      (call, asked) => ({ ...call, id: 8, params: { ...(call.params as Json), requestState: asked.requestState } }),
      NOBODY,
    ],
  ];
  it('gets a refusal for what is no yes, and the server nothing', async (t) => {
    const names = ROWS.map((_row, i) => `r${i}`);
    const roots = `roots: { ${names.map((name) => `${name}: { path: ~/${name} }`)} }`;
    const policy = `${roots}\nrules: [{ id: q, ask: [${names}], access: read-write }]`;
    const tree = names.map((name) => `dir home/${name}`);
    const { home, host } = await setUp(t, policy, PATIENT, tree);
    for (const [i, [says, make, why]] of ROWS.entries()) {
      const call = modernCall(join(home.home, `r${i}`), 2 * i);
      host.send(call);
      host.send({ ...make(call, await askedIn(host, 2 * i)), id: 2 * i + 1 });
      assert.match(await refusal(host, 2 * i + 1), why, says);
      // What nobody has answered stays open.
      const isOpen = (await list(home)).pending.some(({ root }) => root === `r${i}`);
      assert.equal(isOpen, why === NOBODY, says);
    }
    assert.deepEqual(await linesOf(host), []);
  });

  it('may be overtaken: another answer counts, and the call goes on when the host makes it again', async (t) => {
    const { home, host } = await setUp(t);
    const shown = await ShownQuestions.open(t, home);
    const call = modernCall(join(home.home, 'a'));
    host.send(call);
    const asked = await askedIn(host);
    await home.json('consent', 'approve', (await shown.next()).id);
    host.send(again(call, 8, asked, accept('deny')));
    assert.equal(await resultOf(host, 8), 'done');
    assert.deepEqual(
      (await list(home)).history.map(({ channel }) => channel),
      ['command'],
    );
  });

  it('that comes too late hears so', async (t) => {
    const { home, host, daemon } = await setUp(t, ASKS, 'consent: { timeout: 1s }\n');
    const call = modernCall(join(home.home, 'a'));
    host.send(call);
    const asked = await askedIn(host);
    await daemon.logged('consent question withdrawn');
    host.send(again(call, 8, asked, accept('8h')));
    assert.match(await refusal(host, 8), /nobody has given it in time/);
    assert.deepEqual((await list(home)).grants, []);
  });

  it('may make a call again more than once: the state counts once, and reaches no server', async (t) => {
    const { home, host } = await setUp(t);
    const call = modernCall(join(home.home, 'a'));
    host.send(call);
    const asked = await askedIn(host);
    host.send(again(call, 8, asked, accept('session')));
    assert.equal(await resultOf(host, 8), 'done');
    host.send(again(call, 9, asked, accept('always')));
    assert.equal(await resultOf(host, 9), 'done');
    for (const line of await linesOf(host))
      assert.equal(OURS.test(line) || /requestState|inputResponses/.test(line), false, line);
    assert.deepEqual(
      (await list(home)).grants.map(({ scope }) => scope),
      ['session'],
    );
  });

  it('is asked one question for calls that wait for the same, by the first of them', async (t) => {
    const { home, host } = await setUp(t);
    const calls = [1, 2, 3].map((id) => modernCall(join(home.home, `a/${id}`), id));
    for (const call of calls) host.send(call);
    const asked = await askedIn(host, 1);
    while ((await onlyQuestion(home)).count < 3);
    host.send(again(calls[0] ?? {}, 4, asked, accept('session')));
    for (const id of [2, 3, 4]) assert.equal(await resultOf(host, id), 'done');
  });

  it('is asked all that a call waits for at once, and each answer counts for itself', async (t) => {
    const policy = `${ROOTS}rules: [{ id: q, ask: [a, b], access: read-write }]`;
    const { home, host } = await setUp(t, policy);
    const arguments_ = { paths: [join(home.home, 'a'), join(home.home, 'b')], script: [null] };
    const call = { id: 7, method: 'tools/call', params: { name: 'read', arguments: arguments_, _meta: metaOf(FORMS) } };
    host.send(call);
    const asked = await askedIn(host);
    const { pending } = await list(home);
    assert.deepEqual(Object.keys(asked.inputRequests).sort(), pending.map(({ id }) => `rootsd-${id}`).sort());
    const inputResponses = Object.fromEntries(
      pending.map(({ id, root }) => [`rootsd-${id}`, accept(root === 'a' ? 'session' : 'deny')]),
    );
    host.send({ ...call, id: 8, params: { ...call.params, inputResponses, requestState: asked.requestState } });
    assert.match(await refusal(host, 8), REFUSED);
    const { history } = await list(home);
    assert.deepEqual(history.map(({ event, root }) => `${event} ${root}`).sort(), ['approved a', 'denied b']);
  });

  it('that goes away takes its question with it', async (t) => {
    const { home, host } = await setUp(t);
    host.send(modernCall(join(home.home, 'a')));
    await askedIn(host);
    host.process.stdin?.end();
    assert.equal((await host.ended).status, 0);
    while ((await list(home)).pending.length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});

describe('rootsd run, a host of revision 2026-07-28 that is asked nothing', () => {
  const refusedAtOnce = async (t: TestContext, call: (path: string) => Json, ...policy: readonly string[]) => {
    const { home, host } = await setUp(t, ...policy);
    host.send(call(join(home.home, 'a')));
    const { result, error } = await host.next((message) => message.id === 7);
    assert.match(JSON.stringify(result ?? error), /nobody can be asked now/);
    assert.equal((await list(home)).pending.length, 1);
  };

  it('shows no forms in this request', async (t) => {
    await refusedAtOnce(t, (path) => modernCall(path, 7, {}, { elicitation: { url: {} } }));
  });

  it('works with who is no administrator, for a rule that wants one', async (t) => {
    await refusedAtOnce(t, modernCall, `${ROOTS}rules: [{ id: q, ask: [a], access: read-write, approver: admin }]`);
  });

  it('serves where rootsd.yaml turns this way off', async (t) => {
    await refusedAtOnce(t, modernCall, ASKS, 'consent: { timeout: 1h, channels: [agent] }\n');
  });

  it('asks for something whose result holds no questions, though it has shown forms before', async (t) => {
    const { home, host } = await setUp(t, `${ROOTS}rules: [{ id: q, ask: [a, b], access: read-write }]`);
    const call = modernCall(join(home.home, 'a'), 1);
    host.send(call);
    host.send(again(call, 2, await askedIn(host, 1), accept('deny')));
    await refusal(host, 2);
    host.send({ id: 7, method: 'resources/subscribe', params: { uri: `file://${home.home}/b`, _meta: metaOf(FORMS) } });
    const { error } = await host.next((message) => message.id === 7);
    assert.match(JSON.stringify(error), /nobody can be asked now/);
  });
});

describe('rootsd run, a server of revision 2026-07-28 that asks the person too', () => {
  const who = { who: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: {} } } };
  const asking = `{"id":$ID,"result":{"resultType":"input_required","inputRequests":${JSON.stringify(who)},"requestState":"s"}}`;

  it('waits while a question of ours is at the host; with its questions nothing else', async (t) => {
    const { home, host } = await setUp(t);
    const call = modernCall(join(home.home, 'a'));
    host.send(call);
    const asked = await askedIn(host);
    const other = (id: number, script: readonly string[]): Json => ({
      id,
      method: 'tools/call',
      params: { name: `t${id}`, arguments: { script }, _meta: metaOf(FORMS) },
    });
    host.send(other(20, [asking]));
    host.send(other(21, ['{"id":$ID,"result":"done"}']));
    assert.equal(await resultOf(host, 21), 'done');
    assert.equal(
      host.messages.some(({ id }) => id === 20),
      false,
    );
    host.send(again(call, 8, asked, accept('session')));
    assert.equal((await askedIn(host, 20)).requestState, 's');
    assert.equal(await resultOf(host, 8), 'done');
    assert.deepEqual(
      (await reached({ home, host } as never)).filter((id) => id === 20),
      [20],
    );
  });

  it('may ask in the same call, before or after us', async (t) => {
    const { home, host } = await setUp(t);
    const script = [asking, '{"id":$ID,"result":"done"}'];
    const params = { name: 't', arguments: { path: join(home.home, 'a'), script }, _meta: metaOf(FORMS) };
    const call = { id: 7, method: 'tools/call', params };
    host.send(call);
    const ours = await askedIn(host);
    host.send(again(call, 8, ours, accept('session')));
    const its = await askedIn(host, 8);
    assert.deepEqual([its.inputRequests, its.requestState], [who, 's']);
    // What was given is taken back before the host answers the server: the person is asked again.
    await home.json('consent', 'revoke', '--all');
    host.send(again(call, 9, its, accept('Ana')));
    const oursAgain = await askedIn(host, 9);
    assert.match(Object.keys(oursAgain.inputRequests).join(), /^rootsd-/);
    host.send(again(call, 10, oursAgain, accept('session')));
    assert.equal(await resultOf(host, 10), 'done');
    const last = JSON.parse((await linesOf(host)).at(-1) ?? '') as { readonly params: Json };
    assert.deepEqual([last.params.requestState, last.params.inputResponses], ['s', { who: accept('Ana') }]);
  });
});
