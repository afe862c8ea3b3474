// Revision 2026-07-28 behind `rootsd run`: capabilities in each request, questions in results.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { viewOf } from '../support/fake-daemon.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { type Json, type RunHost, useRun } from '../support/run-host.ts';
import { startRunInProcess } from '../support/run-in-process.ts';
import { type RunSetup, type RunSetupOptions, setUpRun } from '../support/run-setup.ts';

const program = useRun();
const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

const setUp = (t: TestContext, options: RunSetupOptions = {}): Promise<RunSetup> =>
  setUpRun(t, program(), { allowed: ['a', 'b'], ...options });

const metaOf = (capabilities: Json = {}): Json => ({ [VERSION]: '2026-07-28', [CAPABILITIES]: capabilities });

/** A result line of the server; `$ID` stands for the id of the request that it answers. */
const resultLine = (result: string): string => `{"result":${result},"jsonrpc":"2.0","id":$ID}`;
const asking = (requests: Json, state?: string): string =>
  resultLine(
    `{"resultType":"input_required","inputRequests":${JSON.stringify(requests)}${state === undefined ? '' : `,"requestState":${state}`}}`,
  );
const ROOTS = { method: 'roots/list' };
const ELICIT = { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: { type: 'object' } } };
const DONE = resultLine('{"content":[{"type":"text","text":"done"}],"resultType":"complete"}');

interface Call {
  readonly script: readonly (string | null)[];
  readonly capabilities?: Json;
  readonly more?: Json;
  readonly name?: string;
}

/** A call whose answers are written into it. */
const callOf = (id: unknown, { script, capabilities, more, name = 'tool' }: Call): Json => ({
  id,
  method: 'tools/call',
  params: { name, arguments: { script }, _meta: { ...metaOf(capabilities), progressToken: 'p' }, ...more },
});

/** The requests that the server got, parsed. */
async function callsSeen(host: RunHost): Promise<readonly Json[]> {
  const lines = (await host.ask('received')) as string[];
  return lines.map((line) => JSON.parse(line) as Json).filter(({ method }) => method === 'tools/call');
}
const paramsOf = (message: Json | undefined): Json => message?.params as Json;
const answerTo = (host: RunHost, id: unknown): Promise<Json> =>
  host.next((message) => message.id === id && message.method === undefined);
const rootsAt = (...paths: readonly string[]): Json => ({
  roots: paths.map((path) => ({
    uri: `file://${path}`,
    name: path.split('/').at(-1),
    _meta: { 'io.rootsd/access': 'read-write' },
  })),
});

describe('rootsd run, a request of revision 2026-07-28', () => {
  /** What the host says in `_meta`, and what the server gets; all other bytes are the same. */
  const ROWS: readonly (readonly [string, string])[] = [
    [`{"${VERSION}":"2026-07-28","${CAPABILITIES}":{}}`, `{"${VERSION}":"2026-07-28","${CAPABILITIES}":{"roots":{}}}`],
    [
      `{"${CAPABILITIES}":{"roots":{"listChanged":true},"elicitation":{} }, "${VERSION}":"2026-07-28"}`,
      `{"${CAPABILITIES}":{"roots":{},"elicitation":{} }, "${VERSION}":"2026-07-28"}`,
    ],
    [`{"${VERSION}":"2026-07-28"}`, `{"${CAPABILITIES}":{"roots":{}},"${VERSION}":"2026-07-28"}`],
    [
      `{"io.modelcontextprotocol\\/protocolVersion":"x","io.modelcontextprotocol\\/clientCapabilities":{"x":1}}`,
      `{"io.modelcontextprotocol\\/protocolVersion":"x","io.modelcontextprotocol\\/clientCapabilities":{"roots":{},"x":1}}`,
    ],
  ];
  for (const [given, got] of ROWS) {
    it(`gets roots in its capabilities and keeps all else: ${given}`, async (t) => {
      const { host } = await setUp(t);
      const line = (meta: string): string =>
        `{"id":9007199254740993, "method":"server/discover","params":{"n":1.0,"_meta":${meta} ,"s":"\\u00e9\\/é${VERSION}"},"jsonrpc":"2.0"}`;
      host.write(`${line(given)}\r\n`);
      assert.equal(((await host.ask('received')) as string[])[0], line(got));
    });
  }

  it('keeps none where the policy says "roots: off"', async (t) => {
    const { host } = await setUp(t, { plan: { roots: false } });
    host.send({ id: 1, method: 'x', params: { _meta: metaOf({ roots: {}, sampling: {} }) } });
    const [line] = (await host.ask('received')) as string[];
    assert.deepEqual(JSON.parse(line ?? '').params._meta[CAPABILITIES], { sampling: {} });
  });

  /** Not of this era, or no JSON to its end. */
  for (const line of [
    '{"jsonrpc":"2.0","id":1,"method":"x"}',
    '{"jsonrpc":"2.0","id":1,"method":"x","params":{}}',
    '{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":"io.modelcontextprotocol"}}}',
    `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":{"_meta":{"${VERSION}":"2026-07-28","${CAPABILITIES}":{}}}}}`,
    `{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"${VERSION}":"2026-07-28","${CAPABILITIES}":{}}}}`,
    `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"${VERSION}":"2026-07-28","${CAPABILITIES}":{`,
  ]) {
    it(`is not: ${line}`, async (t) => {
      const { host } = await setUp(t);
      host.write(`${line}\n`);
      assert.equal(((await host.ask('received')) as string[])[0], line);
    });
  }

  it('may be as long as any, with its capabilities at the end', async (t) => {
    const { host } = await setUp(t);
    const script = [asking({ r: ROOTS }), DONE];
    const text = '世é😀x"'.repeat(300_000);
    const params = { name: 'tool', arguments: { script, text }, _meta: metaOf() };
    host.send({ id: 1, method: 'tools/call', params });
    assert.deepEqual((await answerTo(host, 1)).result, JSON.parse(DONE.replace('$ID', '1')).result);
    for (const seen of await callsSeen(host)) {
      assert.equal((paramsOf(seen).arguments as { text: string }).text, text);
      assert.deepEqual((paramsOf(seen)._meta as Json)[CAPABILITIES], { roots: {} });
    }
  });

  it('may stand beside those of the legacy era in one connection', async (t) => {
    const { base, host } = await setUp(t);
    await host.initialize();
    host.send(callOf(1, { script: [asking({ r: ROOTS }), DONE] }));
    await answerTo(host, 1);
    const [, again] = await callsSeen(host);
    assert.deepEqual(paramsOf(again).inputResponses, { r: rootsAt(`${base}/a`, `${base}/b`) });
    const answer = (await host.ask('roots')) as { result: Json };
    assert.deepEqual(answer.result, rootsAt(`${base}/a`, `${base}/b`));
  });
});

describe('rootsd run, a question for roots within a result', () => {
  it('is answered here: the request comes again under a new id, with the answers under the same keys', async (t) => {
    const { base, host } = await setUp(t);
    host.send(callOf('q', { script: [asking({ r: ROOTS, 'é"': ROOTS }, '"s\\u00e9\\/世"'), DONE] }));
    assert.deepEqual((await answerTo(host, 'q')).result, JSON.parse(DONE.replace('$ID', '1')).result);
    assert.deepEqual(
      host.messages.map(({ id }) => id),
      ['q'],
    );
    const [first, again, ...none] = await callsSeen(host);
    assert.deepEqual(none, []);
    assert.match(String(again?.id), /^rootsd-[0-9a-f]{32}-\d+$/);
    const list = rootsAt(`${base}/a`, `${base}/b`);
    assert.deepEqual(paramsOf(again), {
      ...paramsOf(first),
      inputResponses: { r: list, 'é"': list },
      requestState: 'sé/世',
    });
    const [, line] = ((await host.ask('received')) as string[]).filter((text) => text.includes('tools/call'));
    assert.ok(line?.includes('"requestState":"s\\u00e9\\/世"'), 'the state is the very bytes');
  });

  it('brings no state where the server gave none, nor what the host answered in an earlier round', async (t) => {
    const { host } = await setUp(t);
    const more = { inputResponses: { old: { action: 'accept' } }, requestState: 'old' };
    host.send(callOf(1, { script: [asking({ r: ROOTS }), DONE], more }));
    await answerTo(host, 1);
    const [, again] = await callsSeen(host);
    assert.deepEqual(Object.keys(paramsOf(again)).sort(), ['_meta', 'arguments', 'inputResponses', 'name']);
    assert.deepEqual(Object.keys(paramsOf(again).inputResponses as Json), ['r']);
  });

  it('is answered from the list of the moment, and no change is notified', async (t) => {
    const { base, daemon, host } = await setUp(t);
    host.send(callOf(1, { script: [asking({ r: ROOTS }), DONE] }));
    await answerTo(host, 1);
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    host.send(callOf(2, { script: [asking({ r: ROOTS }), DONE], name: 'another' }));
    await answerTo(host, 2);
    assert.deepEqual(paramsOf((await callsSeen(host)).at(-1)).inputResponses, { r: rootsAt(`${base}/b`) });
    assert.equal(await host.ask('list-changed'), 0);
  });

  it('is answered by the empty directory where nothing is allowed', async (t) => {
    const { host } = await setUp(t, { allowed: [], plan: { guard: 'off' } });
    host.send(callOf(1, { script: [asking({ r: ROOTS }), DONE] }));
    await answerTo(host, 1);
    const responses = paramsOf((await callsSeen(host)).at(-1)).inputResponses as { r: { roots: Json[] } };
    assert.match(String(responses.r.roots[0]?.uri), /\/empty(-[0-9a-f]+)?$/);
  });

  it('is refused with the reason where the policy says "roots: off"', async (t) => {
    const { host } = await setUp(t, { plan: { roots: false } });
    host.send(callOf(1, { script: [asking({ r: ROOTS }), DONE] }));
    const { error } = (await answerTo(host, 1)) as { error: { code: number; data: { reason: string } } };
    assert.equal(error.code, -32601);
    assert.match(error.data.reason, /roots: off/);
  });

  it('is answered ten times for one request, and then no more', async (t) => {
    const { host } = await setUp(t);
    host.send(callOf(1, { script: [asking({ r: ROOTS })] }));
    const { error } = (await answerTo(host, 1)) as { error: { message: string } };
    assert.match(error.message, /still asks for roots/);
    assert.equal((await callsSeen(host)).length, 11);
  });

  it('brings a request under an id that no server can use meanwhile', async (t) => {
    const { host } = await setUp(t);
    host.send(callOf(7, { script: [asking({ r: ROOTS }), null] }));
    while ((await callsSeen(host)).length < 2);
    const id = (await callsSeen(host))[1]?.id as string;
    const raw = JSON.stringify({ jsonrpc: '2.0', id, method: 'sampling/createMessage' });
    const answer = (await host.ask('roots', { rootsId: id, raw })) as { error: { code: number } };
    assert.equal(answer.error.code, -32600);
    assert.equal(
      host.messages.find(({ method }) => method === 'sampling/createMessage'),
      undefined,
    );
  });

  it('does not bring a call again that may not be made any more', async (t) => {
    const { base, daemon, host } = await setUp(t);
    const call = callOf(1, { script: [null] }) as { params: { arguments: Json } };
    const script = [null];
    host.send({ ...call, params: { ...call.params, arguments: { script, path: `${base}/a/f` } } });
    await host.ask('echo');
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    await host.ask('raw', { text: `${asking({ r: ROOTS }).replace('$ID', '1')}\n` });
    const { result } = (await answerTo(host, 1)) as { result: { isError: boolean; content: { text: string }[] } };
    assert.equal(result.isError, true);
    assert.ok(result.content[0]?.text.includes(`${base}/b`), 'says what is allowed');
    assert.equal((await callsSeen(host)).length, 1);
  });

  for (const method of ['prompts/get', 'resources/read']) {
    it(`may come in an answer to ${method}`, async (t) => {
      const { host } = await setUp(t);
      const params = { uri: 'x:y', arguments: { script: [asking({ r: ROOTS }), DONE] }, _meta: metaOf() };
      host.send({ id: 1, method, params });
      assert.ok((await answerTo(host, 1)).result);
    });
  }

  it('is the affair of the host in an answer to anything else, and in the legacy era', async (t) => {
    const { host } = await setUp(t);
    const line = '{"result":{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}},"id":"e"}';
    host.send({ id: 'e', method: 'raw', params: { text: `${line}\n`, _meta: metaOf() } });
    await host.next(({ id, result }) => id === 'e' && result !== null);
    assert.ok(host.output.includes(line));
    host.send({ id: 'l', method: 'tools/call', params: { name: 'l', arguments: { script: [asking({ r: ROOTS })] } } });
    assert.equal(((await answerTo(host, 'l')).result as Json).resultType, 'input_required');
  });

  it('that is none passes as the bytes it was: a state alone, other questions, an error, a long result', async (t) => {
    const { host } = await setUp(t);
    const lines = [
      '{"result": {"resultType":"input_required","requestState":"s\\u00e9"},"jsonrpc":"2.0","id":$ID}',
      asking({ e: ELICIT }, '"s"'),
      '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"input_required roots/list"}}',
      resultLine(`{"content":[{"text":"${'input_required'.repeat(10_000)}"}],"resultType":"complete"}`),
      resultLine(`{"resultType":"complete","content":"${'x'.repeat(50_000)}"}`),
      resultLine(`{"_meta":{"x":"${'input_required'.repeat(10_000)}"},"resultType":"complete"}`),
    ];
    for (const [i, line] of lines.entries()) {
      host.send(callOf(i, { script: [line], name: `tool ${i}` }));
      await answerTo(host, i);
      assert.ok(host.output.includes(`${line.replace('$ID', String(i))}\n`), line.slice(0, 100));
    }
  });

  it('may be followed by an answer of any length, under the id of the host', async (t) => {
    const { host } = await setUp(t);
    const text = 'world '.repeat(200_000);
    const done = `{"result":{"resultType":"complete","content":[{"type":"text","text":"${text}"}]},"id": $ID}`;
    host.write(`${JSON.stringify(callOf('é', { script: [asking({ r: ROOTS }), done] }))}\n`);
    await answerTo(host, 'é');
    assert.ok(host.output.includes(`${done.replace('$ID', '"é"')}\n`));
  });

  it('may come for many requests at once, each of which gets its own answer', async (t) => {
    const { host } = await setUp(t);
    const ids = Array.from({ length: 50 }, (_, i) => i);
    for (const id of ids)
      host.send(
        callOf(id, { script: [asking({ r: ROOTS }), asking({ r: ROOTS }), resultLine(`{"n":${id}}`)], name: `t${id}` }),
      );
    for (const id of ids) assert.deepEqual((await answerTo(host, id)).result, { n: id });
  });
});

describe('rootsd run, questions for roots and for other things in one result', () => {
  const questions = { r: ROOTS, e: ELICIT };
  const accept = { action: 'accept', content: {} };

  for (const state of ['"s\\u0073"', undefined]) {
    it(`are shared out, and the answers merged: ${state === undefined ? 'without' : 'with'} state`, async (t) => {
      const { base, host } = await setUp(t);
      const script = [asking(questions, state), DONE];
      const capabilities = { elicitation: {} };
      host.send(callOf(1, { script, capabilities }));
      const { result } = await answerTo(host, 1);
      assert.deepEqual(result, {
        resultType: 'input_required',
        inputRequests: { e: ELICIT },
        ...(state === undefined ? {} : { requestState: 'ss' }),
      });
      const more = { inputResponses: { e: accept }, ...(state === undefined ? {} : { requestState: 'ss' }) };
      host.send(callOf(2, { script, capabilities, more }));
      assert.deepEqual((await answerTo(host, 2)).result, JSON.parse(DONE.replace('$ID', '2')).result);
      const [, again] = await callsSeen(host);
      assert.equal(again?.id, 2);
      assert.deepEqual(paramsOf(again), {
        ...paramsOf(again),
        inputResponses: { e: accept, r: rootsAt(`${base}/a`, `${base}/b`) },
      });
      assert.equal(paramsOf(again).requestState, state === undefined ? undefined : 'ss');
    });
  }

  /** Sent again, for another state, or unasked: what the server gets as roots is ours. */
  for (const more of [{}, { requestState: 's' }, { requestState: 'other' }]) {
    it(`never gets the host's own roots in answers that nobody asked for: ${JSON.stringify(more)}`, async (t) => {
      const { host, base } = await setUp(t);
      const e = { action: 'accept', content: { roots: 1 } };
      const inputResponses = { r: { roots: [{ uri: 'file:///etc' }] }, e };
      const call = { script: [DONE], capabilities: { roots: {} }, more: { ...more, inputResponses } };
      for (const id of [1, 2]) {
        host.send(callOf(id, call));
        await answerTo(host, id);
        const got = paramsOf((await callsSeen(host)).at(-1)).inputResponses;
        assert.deepEqual(got, { r: rootsAt(`${base}/a`, `${base}/b`), e });
      }
    });
  }

  it('gets no roots in such answers where the policy says "roots: off"', async (t) => {
    const { host } = await setUp(t, { plan: { roots: false, empty: 'empty' } });
    const more = { inputResponses: { r: { roots: [{ uri: 'file:///etc' }] } } };
    host.send(callOf(1, { script: [DONE], more }));
    await answerTo(host, 1);
    assert.deepEqual(paramsOf((await callsSeen(host)).at(-1)).inputResponses, { r: { roots: [] } });
  });

  it('are told apart by request: each gets the answers to its own', async (t) => {
    const { host } = await setUp(t);
    const scriptOf = (key: string): readonly string[] => [asking({ [key]: ROOTS, e: ELICIT }, `"${key}"`), DONE];
    const send = (id: string, key: string, more?: Json): void => {
      const call = callOf(id, { script: scriptOf(key), ...(more === undefined ? {} : { more }) });
      const params = call.params as { arguments: Json };
      host.send({ ...call, params: { ...params, arguments: { ...params.arguments, key } } });
    };
    for (const key of ['x', 'y']) send(key, key);
    for (const key of ['x', 'y']) await answerTo(host, key);
    for (const key of ['y', 'x']) send(`${key}2`, key, { inputResponses: { e: accept }, requestState: key });
    for (const key of ['x', 'y']) await answerTo(host, `${key}2`);
    const seen = await callsSeen(host);
    for (const key of ['x', 'y']) {
      const responses = paramsOf(seen.find(({ id }) => id === `${key}2`)).inputResponses as Json;
      assert.deepEqual(Object.keys(responses).sort(), ['e', key].sort());
    }
  });

  it('come after a round of ours too, under the id of the host', async (t) => {
    const { host } = await setUp(t);
    host.send(callOf(1, { script: [asking({ r: ROOTS }, '"1"'), asking(questions, '"2"'), DONE] }));
    const { result } = (await answerTo(host, 1)) as { result: Json };
    assert.deepEqual([Object.keys(result.inputRequests as Json), result.requestState], [['e'], '2']);
  });
});

describe('rootsd run, a request of revision 2026-07-28 that is given up', () => {
  it('by the host: under the id that the server knows, and a late answer reaches nobody', async (t) => {
    const { host } = await setUp(t);
    host.send(callOf(7, { script: [asking({ r: ROOTS }), null] }));
    while ((await callsSeen(host)).length < 2);
    const [, again] = await callsSeen(host);
    host.write('{"method":"notifications/cancelled", "params":{"reason":"é\\u00e9","requestId":7 },"jsonrpc":"2.0"}\n');
    const received = (await host.ask('received')) as string[];
    assert.ok(
      received.includes(
        `{"method":"notifications/cancelled", "params":{"reason":"é\\u00e9","requestId":${JSON.stringify(again?.id)} },"jsonrpc":"2.0"}`,
      ),
    );
    await host.ask('raw', { text: `{"result":{"late":1},"jsonrpc":"2.0","id":${JSON.stringify(again?.id)}}\n` });
    assert.equal(host.output.includes('late'), false);
  });

  it('by the host before any question: as it came', async (t) => {
    const { host } = await setUp(t);
    host.send(callOf(7, { script: [null] }));
    host.send({ method: 'notifications/cancelled', params: { requestId: 7 } });
    const received = (await host.ask('received')) as string[];
    assert.equal(JSON.parse(received.at(-2) ?? '').params.requestId, 7);
  });

  it('by the server: under the id of the host', async (t) => {
    const { host } = await setUp(t);
    host.send(callOf('h', { script: [asking({ r: ROOTS }), null] }));
    while ((await callsSeen(host)).length < 2);
    const [, again] = await callsSeen(host);
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: again?.id } };
    await host.ask('raw', { text: `${JSON.stringify(cancelled)}\n` });
    const { params } = await host.next(({ method }) => method === 'notifications/cancelled');
    assert.deepEqual(params, { requestId: 'h' });
  });

  it('reports its progress under the token of the host', async (t) => {
    const { host } = await setUp(t);
    host.send(callOf(1, { script: [asking({ r: ROOTS }), null] }));
    while ((await callsSeen(host)).length < 2);
    const [, again] = await callsSeen(host);
    assert.equal((paramsOf(again)._meta as Json).progressToken, 'p');
  });

  it('by the end of the server: the host gets an error under its own id', async (t) => {
    const { host } = await setUp(t);
    host.send(callOf('h', { script: [asking({ r: ROOTS }), null] }));
    while ((await callsSeen(host)).length < 2);
    host.send({ id: 'exit', method: 'exit', params: { status: 0 } });
    await host.ended;
    assert.ok(host.messages.find(({ id }) => id === 'h')?.error);
  });
});

describe('rootsd run, a host of revision 2026-07-28 that offers roots', () => {
  const capabilities = { roots: {} };

  it('is asked for them when the server asks, and its answer narrows what the server gets', async (t) => {
    const { base, daemon, host } = await setUp(t);
    const script = [asking({ r: ROOTS }, '"s"'), DONE];
    host.send(callOf(1, { script, capabilities }));
    assert.deepEqual((await answerTo(host, 1)).result, JSON.parse(script[0]?.replace('$ID', '1') ?? '').result);
    const roots = [{ uri: `file://${base}/b` }, { uri: 'file:///etc' }];
    host.send(callOf(2, { script, capabilities, more: { inputResponses: { r: { roots } }, requestState: 's' } }));
    await answerTo(host, 2);
    assert.deepEqual(paramsOf((await callsSeen(host)).at(-1)).inputResponses, { r: rootsAt(`${base}/b`) });
    assert.deepEqual((await daemon.next('rootsd/hostRoots')).params, { roots });
  });

  it('is held to them in the very call in which it lists them', async (t) => {
    const { base, host } = await setUp(t);
    const script = [asking({ r: ROOTS }, '"s"'), DONE];
    const sendCall = (id: number, more?: Json): void => {
      const call = callOf(id, { script, capabilities, ...(more === undefined ? {} : { more }) });
      const params = call.params as { arguments: Json };
      host.send({ ...call, params: { ...params, arguments: { script, path: `${base}/a/f` } } });
    };
    sendCall(1);
    await answerTo(host, 1);
    sendCall(2, { inputResponses: { r: { roots: [{ uri: `file://${base}/b` }] } }, requestState: 's' });
    assert.equal(((await answerTo(host, 2)).result as Json).isError, true);
    assert.equal((await callsSeen(host)).length, 1);
  });

  it('is not asked where the policy says "host-roots: ignore"', async (t) => {
    const { base, host } = await setUp(t, { plan: { hostRoots: 'ignore' } });
    host.send(callOf(1, { script: [asking({ r: ROOTS }), DONE], capabilities }));
    assert.equal(((await answerTo(host, 1)).result as Json).resultType, 'complete');
    assert.deepEqual(paramsOf((await callsSeen(host)).at(-1)).inputResponses, {
      r: rootsAt(`${base}/a`, `${base}/b`),
    });
  });
});

describe('RunSession, a host of revision 2026-07-28 that offers roots and does not list them', () => {
  it('is asked once, and again only when it has answered', async (t) => {
    const timer = new ManualTimer();
    const { base, host, said } = startRunInProcess(t, {
      tree: ['dir a', 'dir b'],
      allowed: ['a', 'b'],
      timer: timer.after,
    });
    const question = asking({ r: ROOTS }, '"s"');
    const capabilities = { roots: {} };
    const script = [question, question, question, DONE];
    const ask = async (id: number, more?: Json): Promise<Json> => {
      const answer = host.next((message) => message.id === id);
      host.send(callOf(id, { script, capabilities, ...(more === undefined ? {} : { more }) }));
      return ((await answer).result ?? {}) as Json;
    };
    assert.equal((await ask(1)).resultType, 'input_required');
    timer.advance(4_999);
    assert.equal(said(), '');
    timer.advance(1);
    assert.match(said(), /does not list them/);
    assert.equal((await ask(2)).resultType, 'complete', 'answered here');
    const more = { inputResponses: { r: { roots: [{ uri: `file://${base}/b` }] } }, requestState: 's' };
    assert.equal((await ask(3, more)).resultType, 'complete');
    const lines = (await host.request(9, 'received')).result as string[];
    const last = lines.map((line) => JSON.parse(line) as Json).findLast(({ id }) => id === 3);
    assert.deepEqual(paramsOf(last).inputResponses, { r: rootsAt(`${base}/b`) });
  });
});

describe('rootsd run, a host of revision 2026-07-28 whose server is started again', () => {
  it('goes on listening under the same id', async (t) => {
    const { base, daemon, host } = await setUpRun(t, program(), { args: ['{roots}'] });
    const listen = { id: 'l', method: 'subscriptions/listen', params: { notifications: {}, _meta: metaOf() } };
    for (const id of ['l', 'gone', 'ended']) host.send({ ...listen, id });
    host.send({ method: 'notifications/cancelled', params: { requestId: 'gone' } });
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'ended' } };
    await host.ask('raw', { text: `${JSON.stringify(cancelled)}\n` });
    const started = host.next(
      ({ method, params }) => method !== undefined && (params as Json).argv?.toString() === `${base}/b`,
    );
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    assert.equal(((await started).params as Json).id, 'l');
    const received = (await host.ask('received')) as string[];
    assert.deepEqual(
      received.slice(0, -1).map((line) => JSON.parse(line) as Json),
      [{ jsonrpc: '2.0', ...listen, params: { ...listen.params, _meta: metaOf({ roots: {} }) } }],
    );
    assert.equal(
      host.messages.find(({ id }) => id === 'l'),
      undefined,
    );
    host.send({ id: 'exit', method: 'exit', params: { status: 0 } });
    await host.ended;
    assert.ok(host.messages.find(({ id }) => id === 'l')?.error, 'at the end it is answered too');
  });
});
