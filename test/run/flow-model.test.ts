// Random messages of both eras in both directions, cut at random places, against a model of a few lines that parses everything.
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { unrefTimer } from '../../src/client/timer.ts';
import { launchPlan } from '../../src/core/protocol.ts';
import { UNKNOWN_SERVER } from '../../src/core/server-traits.ts';
import { Tombstone } from '../../src/disk/tombstone.ts';
import { ByteSink } from '../../src/run/bytes.ts';
import { Guard } from '../../src/run/guard/guard.ts';
import { LineFlow } from '../../src/run/line-flow.ts';
import { LineWriter } from '../../src/run/line-writer.ts';
import { RootsChannel } from '../../src/run/roots-channel.ts';
import { ChunkSource, cut } from '../support/chunk-source.ts';
import { makeConversation } from '../support/conversation.ts';
import type { Json } from '../support/run-host.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const TOLD = [{ uri: 'file:///a', name: 'a', _meta: { 'io.rootsd/access': 'read-only' as const } }];
const LIST = { roots: TOLD };
const MAY_ASK = ['tools/call', 'prompts/get', 'resources/read'];

/** A line as it is written, and what it says; null: no message. */
interface Line {
  readonly text: string;
  readonly message: Json | null;
}

/** A line that must come out: these very bytes, or others that say this. */
type Expected = string | Json;

const shuffled = (object: Json): fc.Arbitrary<Json> =>
  fc
    .shuffledSubarray(Object.keys(object), { minLength: Object.keys(object).length })
    .map((keys) => Object.fromEntries(keys.map((key) => [key, object[key]])));

/** Writes a message in one of the ways of the encoders out there. */
const written = (message: fc.Arbitrary<Json>): fc.Arbitrary<Line> =>
  fc
    .tuple(message.chain(shuffled), fc.constantFrom(0, 1, ' '), fc.constantFrom('\n', '\r\n'), fc.boolean())
    .map(([value, blanks, end, slashes]) => {
      const json = JSON.stringify(value, null, blanks).replaceAll('\n', '');
      return { text: `${slashes ? json.replaceAll('/', '\\/') : json}${end}`, message: JSON.parse(json) as Json };
    });

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('roots/list', 'input_required', 'x"'.repeat(12_000), '世'.repeat(30_000), VERSION, '}\\"{'),
);
const legacyMeta = fc.oneof(fc.constant({}), fc.record({ progressToken: text }));
const modernMeta = fc.record({
  [VERSION]: fc.constant('2026-07-28'),
  [CAPABILITIES]: fc.constantFrom({}, { elicitation: {} }),
  x: text,
});
const method = fc.constantFrom(...MAY_ASK, 'ping', 'server/discover', 'tools/list');
const request = (id: number, meta: fc.Arbitrary<Json>): fc.Arbitrary<Line> =>
  written(
    fc
      .tuple(method, fc.record({ name: text, arguments: fc.record({ text }), _meta: meta }).chain(shuffled))
      .map(([name, params]) => ({ jsonrpc: '2.0', id, method: name, params })),
  );
const noise = fc
  .constantFrom('no json', '{"broken":', '{"level":"info"}', '"roots/list"')
  .map((line) => ({ text: `${line}\n`, message: null }));
const notification = written(
  fc.record({
    method: fc.constantFrom('notifications/progress', 'notifications/roots/list_changed'),
    params: fc.record({ text }),
  }),
);
const initialize = written(
  fc.constantFrom({}, { roots: {} }, { sampling: {} }).map((capabilities) => ({
    jsonrpc: '2.0',
    id: 'init',
    method: 'initialize',
    params: { capabilities },
  })),
);

const isModern = (params: Json | undefined): boolean => Object.hasOwn((params?._meta ?? {}) as Json, VERSION);

/** What the server must get of a line of the host. */
function toServer({ text: line, message }: Line): readonly Expected[] {
  const params = message?.params as Json | undefined;
  if (message?.method === 'notifications/roots/list_changed') return [];
  if (message?.method === 'initialize') {
    const capabilities = { ...(params?.capabilities as Json), roots: { listChanged: true } };
    return [{ ...message, params: { capabilities } }];
  }
  if (message?.id === undefined || !isModern(params)) return [line];
  const _meta = params?._meta as Json;
  const capabilities = { ...(_meta[CAPABILITIES] as Json), roots: {} };
  return [{ ...message, params: { ...params, _meta: { ..._meta, [CAPABILITIES]: capabilities } } }];
}

const ROOTS = { method: 'roots/list' };
const ELICIT = { method: 'elicitation/create', params: { message: 'roots/list' } };
const result = fc.oneof(
  fc.record({ content: text, resultType: fc.constant('complete') }),
  fc.record({ resultType: fc.constant('complete'), content: text }),
  fc.record({
    resultType: fc.constant('input_required'),
    inputRequests: fc.constantFrom(
      { r: ROOTS },
      { r: ROOTS, 'r 2': ROOTS },
      { r: ROOTS, e: ELICIT },
      { e: ELICIT },
      {},
    ),
    requestState: text,
  }),
  fc.record({ resultType: fc.constant('input_required'), inputRequests: fc.constant({ r: ROOTS }) }),
);
const answer = (id: unknown): fc.Arbitrary<Line> =>
  written(
    fc.oneof(
      { weight: 4, arbitrary: result.chain<Json>(shuffled).map((value) => ({ jsonrpc: '2.0', id, result: value })) },
      text.map((message) => ({ jsonrpc: '2.0', id, error: { code: 1, message } })),
    ),
  );
const fromServer = fc.oneof(
  noise,
  written(fc.record({ method: fc.constant('notifications/message'), params: fc.record({ text }) })),
  written(
    fc.record({ id: fc.string(), method: fc.constant('roots/list'), params: fc.constantFrom({}, { _meta: {} }) }),
  ),
  written(fc.record({ id: fc.nat(), method: fc.constant('sampling/createMessage'), params: fc.record({ text }) })),
);

/** What host and server must get of a line of the server, given what the host has asked. */
function ofServer(
  { text: line, message }: Line,
  asked: ReadonlyMap<unknown, Json>,
): Record<'host' | 'server', readonly Expected[]> {
  if (message === null) return { host: [], server: [] };
  if (message.method === 'roots/list') return { host: [], server: [{ jsonrpc: '2.0', id: message.id, result: LIST }] };
  const question = asked.get(message.id);
  const said = (message.result ?? {}) as Json;
  const params = question?.params as Json | undefined;
  const isAsking =
    said.resultType === 'input_required' && isModern(params) && MAY_ASK.includes(String(question?.method));
  const requests = Object.entries((said.inputRequests ?? {}) as Json);
  const ours = requests.filter(([, it]) => (it as Json).method === 'roots/list');
  if (message.method !== undefined || !isAsking || ours.length === 0) return { host: [line], server: [] };
  const others = requests.filter((entry) => !ours.includes(entry));
  if (others.length > 0) {
    return { host: [{ ...message, result: { ...said, inputRequests: Object.fromEntries(others) } }], server: [] };
  }
  const again: Json = { ...(toServer({ text: '', message: question ?? {} })[0] as Json), id: 'ours' };
  const state = said.requestState === undefined ? {} : { requestState: said.requestState };
  const inputResponses = Object.fromEntries(ours.map(([key]) => [key, LIST]));
  return { host: [], server: [{ ...again, params: { ...(again.params as Json), inputResponses, ...state } }] };
}

const PLAN = launchPlan(undefined, UNKNOWN_SERVER, {
  policyFiles: [],
  policyDirectories: [],
  policyState: 'ok',
  version: 'x',
});

/** Keeps what is written, and takes its time. */
class SlowSink {
  readonly #taken: Buffer[] = [];
  readonly sink = new ByteSink(
    new Writable({
      highWaterMark: 1,
      write: (chunk: Buffer, _encoding, done) => {
        // Copied later: whoever reuses the buffer before it is written is found out.
        setImmediate(() => {
          this.#taken.push(Buffer.from(chunk));
          done();
        });
      },
    }),
  );

  /** The lines that have come since the last time, ids of ours made one. */
  take(): readonly string[] {
    const all = Buffer.concat(this.#taken.splice(0)).toString();
    return all.replaceAll(/"rootsd-[0-9a-f]{32}-\d+"/g, '"ours"').match(/[^\n]*\n/g) ?? [];
  }
}

function assertLines(lines: readonly string[], expected: readonly Expected[]): void {
  const shown = lines.map((line, i) => (typeof expected[i] === 'string' ? line : (JSON.parse(line) as Json)));
  assert.deepEqual(shown, expected);
}

async function check(fromHost: readonly Line[], answers: readonly Line[], sizes: readonly number[]): Promise<void> {
  const [toHost, atServer] = [new SlowSink(), new SlowSink()];
  const host = new LineWriter(toHost.sink);
  const guard = new Guard({ timer: unrefTimer, cwd: () => '/', onAnswer: assert.fail, onRefused: () => assert.fail() });
  guard.update({ ...PLAN, guard: 'off' }, []);
  const conversation = makeConversation(host, guard);
  const { server } = conversation;
  server.redirect(atServer.sink);
  const told = { roots: TOLD, places: [], offers: [], key: 'a' };
  const tombstone = new Tombstone({ uid: 0, runtimeDirectories: [] });
  conversation.use(
    new RootsChannel({
      plan: PLAN,
      told,
      server,
      tombstone,
      timer: unrefTimer,
      onSettled: () => undefined,
      onAsked: () => undefined,
      onFault: () => assert.fail(),
    }),
  );

  const bytesOf = (lines: readonly Line[]): readonly Buffer[] =>
    cut(Buffer.from(lines.map((line) => line.text).join('')), sizes);
  const { hostMessages } = conversation;
  await new Promise<void>((resolve) => {
    const judge = {
      line: (line: Buffer, isOurs: boolean) => hostMessages.line(line, isOurs),
      opening: (head: Buffer) => hostMessages.opening(head),
      ended: resolve,
      tooLong: () => assert.fail(),
    };
    new LineFlow(new ChunkSource(bytesOf(fromHost)), { to: server, answers: host, judge }).start();
  });
  await whenFree(server);
  assertLines(atServer.take(), fromHost.flatMap(toServer));

  const asked = new Map(fromHost.map(({ message }) => [message?.id, message ?? {}]));
  const expected = answers.map((line) => ofServer(line, asked));
  await new Promise<void>((resolve) => {
    const judge = conversation.serverMessages(resolve);
    new LineFlow(new ChunkSource(bytesOf(answers)), { to: host, answers: server, judge }).start();
  });
  await Promise.all([whenFree(host), whenFree(server)]);
  assertLines(
    toHost.take(),
    expected.flatMap((each) => each.host),
  );
  assertLines(
    atServer.take(),
    expected.flatMap((each) => each.server),
  );
}

async function whenFree(writer: LineWriter): Promise<void> {
  while (!writer.free) await new Promise((resolve) => setImmediate(resolve));
}

describe('both directions', () => {
  it('are what a model that parses every line makes of them, however they are cut', async () => {
    const ids = [1, 2, 3, 4, 5, 6];
    const linesWith = (first: fc.Arbitrary<Line | null>, meta: fc.Arbitrary<Json>): fc.Arbitrary<readonly Line[]> =>
      fc
        .tuple(first, ...ids.map((id) => fc.oneof({ weight: 4, arbitrary: request(id, meta) }, notification, noise)))
        .map((all) => all.filter((line) => line !== null));
    // A connection that begins with `initialize` is of the legacy era, until a request says otherwise that is not long.
    const lines = fc.oneof(
      linesWith(initialize, legacyMeta),
      linesWith(fc.constant(null), fc.oneof(legacyMeta, { weight: 4, arbitrary: modernMeta })),
    );
    const answers = fc
      .tuple(fc.shuffledSubarray(ids), fc.array(fromServer, { maxLength: 4 }))
      .chain(([answered, others]) =>
        fc
          .tuple(...answered.map(answer))
          .chain((list) => fc.shuffledSubarray([...list, ...others], { minLength: list.length + others.length })),
      );
    const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 65_536 })), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(lines, answers, sizes, (fromHost, fromTheServer, cuts) =>
        check(fromHost, fromTheServer, cuts.every((size) => size < 41) ? [...cuts, 30_000] : cuts),
      ),
      { numRuns: 300 },
    );
  });
});
