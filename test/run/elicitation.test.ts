// A question of the daemon, asked through a host of the legacy era by `elicitation/create`.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { HostQuestion } from '../../src/core/protocol.ts';
import { PATIENT, served } from '../support/asking-home.ts';
import { callOf, refusal } from '../support/asking-run.ts';
import type { FakeDaemon, Received } from '../support/fake-daemon.ts';
import { type Json, OBEDIENT_SERVER, RunHost, useRun } from '../support/run-host.ts';
import { type RunSetup, setUpRun } from '../support/run-setup.ts';
import { ROOTSD, type TestHome } from '../support/serve.ts';

const program = useRun();
const FORMS = { elicitation: {} };

function questionOf(id: string, more: Partial<HostQuestion> = {}): HostQuestion {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  return { id, text: `rootsd: "s" asks\npath: /${id}`, scopes: ['session', '8h'], until, ...more };
}
const [A, B] = [questionOf('a'), questionOf('b')] as const;

/** Waits until the daemon is told that the host can be asked. */
async function untilElicits(daemon: FakeDaemon): Promise<void> {
  while ((await daemon.next('rootsd/report')).params.elicits !== true);
}

/** With a host that is initialized and shows forms. */
async function setUp(t: TestContext, capabilities: Json = FORMS): Promise<RunSetup> {
  const setup = await setUpRun(t, program());
  await setup.host.initialize(capabilities);
  await setup.host.ask('echo');
  return setup;
}

const isElicitation = ({ method }: Json): boolean => method === 'elicitation/create';
const elicitationsOf = (host: RunHost): readonly Json[] => host.messages.filter(isElicitation);

/** The question that the host is asked next; it is not waited for again. */
async function asked(host: RunHost): Promise<Json & { readonly id: string; readonly params: Json }> {
  const message = await host.next(isElicitation);
  host.skip();
  return message as Json & { readonly id: string; readonly params: Json };
}

const accept = (answer: unknown): Json => ({ result: { action: 'accept', content: { answer } } });

describe('rootsd run, a host that shows forms', () => {
  it('is asked by a form of one required string: deny, then the scopes', async (t) => {
    const { daemon, host } = await setUp(t);
    await untilElicits(daemon);
    daemon.ask(A);
    const { id, params, ...rest } = await asked(host);
    assert.match(id, /^rootsd-[0-9a-f]{32}-\d+$/);
    assert.deepEqual(rest, { jsonrpc: '2.0', method: 'elicitation/create' });
    const { message, requestedSchema } = params as {
      message: string;
      requestedSchema: { properties: { answer: Json } };
    };
    assert.equal(message, A.text);
    const { title, description, ...answer } = requestedSchema.properties.answer;
    assert.deepEqual(
      { ...requestedSchema, properties: { answer } },
      {
        type: 'object',
        properties: { answer: { type: 'string', enum: ['deny', 'session', '8h'], default: 'deny' } },
        required: ['answer'],
      },
    );
  });

  /** What the host answers, and what of it the daemon hears. */
  const ROWS: readonly (readonly [string, Json, Json])[] = [
    ['a scope', accept('8h'), { says: 'yes', scope: '8h' }],
    ['"deny"', accept('deny'), { says: 'no' }],
    ['a decline', { result: { action: 'decline' } }, { says: 'no' }],
    ['a cancel', { result: { action: 'cancel' } }, { says: 'pass' }],
    ['a cancel with a content', { result: { action: 'cancel', content: { answer: '8h' } } }, { says: 'pass' }],
    ['a scope that is not offered', accept('always'), { says: 'pass' }],
    ['a scope in a list', accept(['8h']), { says: 'pass' }],
    ['no content', { result: { action: 'accept' } }, { says: 'pass' }],
    ['another action', { result: { action: 'yes', content: { answer: '8h' } } }, { says: 'pass' }],
    ['an error', { error: { code: -32603, message: 'no window' } }, { says: 'pass' }],
    ['nothing that is an answer', { result: null }, { says: 'pass' }],
  ];
  for (const [says, reply, heard] of ROWS) {
    it(`says ${JSON.stringify(heard)} by ${says}`, async (t) => {
      const { daemon, host } = await setUp(t);
      daemon.ask(A);
      host.send({ id: (await asked(host)).id, ...reply });
      assert.deepEqual((await daemon.next('rootsd/answer')).params, { id: 'a', ...heard });
      // No server has seen any of it.
      assert.equal(
        ((await host.ask('received')) as string[]).some((line) => line.includes('rootsd-')),
        false,
      );
    });
  }

  it('is asked while a call of its own waits', async (t) => {
    const { daemon, host } = await setUp(t);
    host.send({ id: 'waits', method: 'never' });
    daemon.ask(A);
    host.send({ id: (await asked(host)).id, ...accept('session') });
    assert.equal((await daemon.next('rootsd/answer')).params.says, 'yes');
  });

  it('is asked one question at a time, and none twice', async (t) => {
    const { daemon, host } = await setUp(t);
    daemon.ask(A, B);
    const first = await asked(host);
    daemon.ask(A, B);
    await host.ask('echo');
    assert.equal(elicitationsOf(host).length, 1);
    host.send({ id: first.id, result: { action: 'cancel' } });
    const second = await asked(host);
    assert.equal(second.params.message, B.text);
    host.send({ id: second.id, result: { action: 'cancel' } });
    daemon.ask(A, B);
    await host.ask('echo');
    assert.equal(elicitationsOf(host).length, 2);
  });

  it('hears that a question is over; what it answers then nobody hears', async (t) => {
    const { daemon, host } = await setUp(t);
    daemon.ask(A, B);
    const { id } = await asked(host);
    daemon.ask(B);
    const { params } = await host.next(({ method }) => method === 'notifications/cancelled');
    assert.equal((params as Json).requestId, id);
    const next = await asked(host);
    host.send({ id, ...accept('8h') });
    host.send({ id: next.id, ...accept('deny') });
    assert.deepEqual((await daemon.next('rootsd/answer')).params, { id: 'b', says: 'no' });
    assert.equal(
      ((await host.ask('received')) as string[]).some((line) => line.includes('rootsd-')),
      false,
    );
  });

  it('hears that a question is over whose daemon is gone', async (t) => {
    const { daemon, host } = await setUp(t);
    daemon.ask(A);
    const { id } = await asked(host);
    daemon.stop();
    const { params } = await host.next(({ method }) => method === 'notifications/cancelled');
    assert.equal((params as Json).requestId, id);
  });

  it('hears that a question is over whose time is, if the daemon does not say so', async (t) => {
    const { daemon, host } = await setUp(t);
    daemon.ask(questionOf('a', { until: '2001-01-01T00:00:00.000Z' }));
    const { id } = await asked(host);
    const { params } = await host.next(({ method }) => method === 'notifications/cancelled');
    assert.equal((params as Json).requestId, id);
    assert.deepEqual((await daemon.next('rootsd/answer')).params, { id: 'a', says: 'pass' });
  });

  it('is told on standard error that an answer does not count, but not that it was late', async (t) => {
    const { daemon, host } = await setUp(t);
    const errorOf = (code: string) => ({ error: { code: -32600, message: `said ${code}`, data: { code } } });
    for (const [question, code] of [
      [A, 'CONSENT_UNKNOWN'],
      [B, 'CONSENT_NOT_KEPT'],
    ] as const) {
      daemon.answerError = errorOf(code);
      daemon.ask(question);
      host.send({ id: (await asked(host)).id, ...accept('8h') });
      await daemon.next('rootsd/answer');
    }
    await host.said('said CONSENT_NOT_KEPT');
    assert.deepEqual((await daemon.next('rootsd/answer')).params, { id: 'b', says: 'pass' });
    assert.equal(host.stderr.includes('CONSENT_UNKNOWN'), false);
  });

  it('is asked when it is initialized, and not before', async (t) => {
    const { daemon, host } = await setUpRun(t, program());
    await host.request('initialize', { protocolVersion: '2025-06-18', capabilities: FORMS, clientInfo: {} });
    daemon.ask(A);
    await host.ask('echo');
    assert.deepEqual(elicitationsOf(host), []);
    host.send({ method: 'notifications/initialized' });
    assert.equal((await asked(host)).params.message, A.text);
  });
});

describe('rootsd run, what a host declares', () => {
  const ROWS: readonly (readonly [Json, boolean])[] = [
    [{ elicitation: {} }, true],
    [{ elicitation: { form: {} } }, true],
    [{ elicitation: { url: {}, form: {} } }, true],
    [{ elicitation: { url: {} } }, false],
    [{ elicitation: null }, false],
    [{ elicitation: true }, false],
    [{ roots: {}, sampling: {} }, false],
    [{}, false],
  ];
  for (const [capabilities, can] of ROWS) {
    it(`${JSON.stringify(capabilities)}: ${can ? 'asked' : 'never asked'}`, async (t) => {
      const { daemon, host } = await setUp(t, capabilities);
      if (can) await untilElicits(daemon);
      daemon.ask(A);
      if (can) await asked(host);
      await host.ask('echo');
      host.process.stdin?.end();
      await host.ended;
      assert.equal(
        daemon.received.some(({ params }) => params.elicits === true),
        false,
      );
      assert.equal(elicitationsOf(host).length, can ? 1 : 0);
    });
  }
});

/** What the server asks of the person, as it writes it. */
const lookAlike = (id: string, message: string = A.text): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { message, requestedSchema: {} } });

describe('rootsd run, a server that asks the person too', () => {
  it('waits while a question of ours is open, and with its questions nothing else', async (t) => {
    const { daemon, host } = await setUp(t);
    daemon.ask(A, B);
    const ours = await asked(host);
    const sampling = JSON.stringify({ jsonrpc: '2.0', id: 's2', method: 'sampling/createMessage', params: {} });
    const answers = [
      host.request('roots', { rootsId: 's1', raw: lookAlike('s1') }),
      host.request('roots', { rootsId: 's2', raw: sampling }),
    ];
    await host.ask('raw', { text: `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message' })}\n` });
    assert.ok(host.messages.some(({ method }) => method === 'notifications/message'));
    const ofServer = () => host.messages.filter(({ id }) => id === 's1' || id === 's2').map(({ id }) => id);
    host.send({ id: ours.id, ...accept('8h') });
    const next = await asked(host);
    assert.deepEqual(ofServer(), [], 'also from one of ours to the next');
    host.send({ id: next.id, ...accept('deny') });
    await host.next(({ id }) => id === 's2');
    assert.deepEqual(ofServer(), ['s1', 's2']);
    for (const id of ['s1', 's2']) host.send({ id, result: { said: id } });
    const heard = (await Promise.all(answers)).map(
      ({ result }) => (result as { result: { said: string } }).result.said,
    );
    assert.deepEqual(heard, ['s1', 's2']);
  });

  it('never has its own question taken for ours, however alike it is', async (t) => {
    const { daemon, host } = await setUp(t);
    const answer = host.request('roots', { rootsId: 'a', raw: lookAlike('a') });
    host.send({ id: (await asked(host)).id, ...accept('8h') });
    assert.deepEqual(((await answer).result as Json).result, accept('8h').result);
    daemon.ask(A);
    host.send({ id: (await asked(host)).id, ...accept('deny') });
    assert.deepEqual((await daemon.next('rootsd/answer')).params, { id: 'a', says: 'no' });
    assert.deepEqual(
      daemon.received.filter(({ method }: Received) => method === 'rootsd/answer'),
      [],
    );
  });

  it('cannot use an id of ours: neither that of an open question nor one that is to come', async (t) => {
    const { daemon, host } = await setUp(t);
    daemon.ask(A, B);
    const { id } = await asked(host);
    const [, prefix, count] = /^(.*-)(\d+)$/.exec(id) ?? [];
    for (const taken of [id, `${prefix}${Number(count) + 1}`]) {
      const reply = (await host.ask('roots', { rootsId: taken, raw: lookAlike(taken) })) as { error: { code: number } };
      assert.equal(reply.error.code, -32600);
    }
    const cancel = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    const forged = JSON.stringify({ jsonrpc: '2.0', id, ...accept('8h') });
    await host.ask('raw', { text: `${cancel}\n${forged}\n` });
    assert.equal(
      host.messages.some(({ method }) => method === 'notifications/cancelled'),
      false,
    );
    assert.deepEqual(
      daemon.received.filter(({ method }) => method === 'rootsd/answer'),
      [],
    );
    host.send({ id, ...accept('deny') });
    assert.deepEqual((await daemon.next('rootsd/answer')).params, { id: 'a', says: 'no' });
  });

  it('is never told what our ids for the host begin with', async (t) => {
    const { daemon, host } = await setUp(t);
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const roots = '{"result":{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}},"id":$ID}';
    const script = [roots, '{"result":{},"id":$ID}'];
    host.send({ id: 'm', method: 'tools/call', params: { name: 't', arguments: { script }, _meta: meta } });
    await host.next(({ id }) => id === 'm');
    const seen = /rootsd-[0-9a-f]{32}/.exec(((await host.ask('received')) as string[]).join());
    daemon.ask(A);
    const { id } = await asked(host);
    assert.ok(seen !== null);
    assert.equal(id.startsWith(seen[0]), false);
  });

  it('may give up a question that waits: nobody is asked it', async (t) => {
    const { daemon, host } = await setUp(t);
    daemon.ask(A);
    const ours = await asked(host);
    const cancel = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 's1' } });
    await host.ask('raw', { text: `${lookAlike('s1')}\n${lookAlike('s2')}\n${cancel}\n` });
    host.send({ id: ours.id, ...accept('8h') });
    await host.next(({ id }) => id === 's2');
    assert.equal(
      host.messages.some(({ id, method }) => id === 's1' || method === 'notifications/cancelled'),
      false,
    );
  });

  it('has 64 questions wait; more are refused at once', async (t) => {
    const { daemon, host } = await setUp(t);
    daemon.ask(A);
    const ours = await asked(host);
    const lines = Array.from({ length: 64 }, (_, i) => lookAlike(`s${i}`));
    await host.ask('raw', { text: `${lines.join('\n')}\n` });
    const { error } = (await host.ask('roots', { rootsId: 'more', raw: lookAlike('more') })) as { error: Json };
    assert.match(String(error.message), /too many questions wait/);
    host.send({ id: ours.id, ...accept('8h') });
    await host.next(({ id }) => id === 's63');
    assert.equal(elicitationsOf(host).length, 65);
  });
});

describe('rootsd run, a call of the legacy era that waits for a person', () => {
  async function waiting(t: TestContext): Promise<{ readonly home: TestHome; readonly host: RunHost }> {
    const names = ['a', 'b', 'c'];
    const roots = `roots: { ${names.map((name) => `${name}: { path: ~/${name} }`)} }`;
    const policy = `${roots}\nrules: [{ id: q, ask: [${names}], access: read-write }]`;
    const { home } = await served(
      t,
      policy,
      PATIENT,
      names.map((name) => `dir home/${name}`),
    );
    const args = ['run', '--socket', home.socket, '--server', 'fs', '--', process.execPath, OBEDIENT_SERVER];
    const host = new RunHost(t, { program: ROOTSD, args, env: home.env });
    await host.initialize(FORMS);
    return { home, host };
  }

  it('goes on when the person says yes at the host', async (t) => {
    const { home, host } = await waiting(t);
    host.send(callOf(join(home.home, 'b/f')));
    host.send({ id: (await asked(host)).id, ...accept('session') });
    assert.equal((await host.next(({ id }) => id === 7)).result, 'done');
  });

  it('is refused at once when the person leaves it to others, and nobody else is there', async (t) => {
    const { home, host } = await waiting(t);
    host.send(callOf(join(home.home, 'b/f')));
    host.send({ id: (await asked(host)).id, result: { action: 'cancel' } });
    assert.match(await refusal(host), /nobody can be asked now/);
  });

  it('has its question asked before those for which nobody waits', async (t) => {
    const { home, host } = await waiting(t);
    await host.request('roots');
    const first = await asked(host);
    host.send(callOf(join(home.home, 'c/f')));
    await host.said(/rootsd consent approve/);
    host.send({ id: first.id, ...accept('deny') });
    assert.match(String((await asked(host)).params.message), /\npath: \S+\/c\n/);
  });
});
