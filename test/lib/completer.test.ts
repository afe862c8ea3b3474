import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { CompleteRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Completer, type CompleterOptions, type CompletionRequest } from '../../src/lib/completer.ts';
import { LiveRoots } from '../../src/lib/live-roots.ts';
import type { SdkClient } from '../../src/lib/sdk.ts';
import { FakeDaemon, viewOf } from '../support/fake-daemon.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { temporaryDirectory } from '../support/tree.ts';
import { connected, later, SDKS, type Sdk } from './connected.ts';

interface Asked {
  readonly request: CompletionRequest;
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly answer: (result: unknown) => void;
}

/** A client whose server a test plays. */
function typing(options: CompleterOptions & { readonly offers?: boolean } = {}) {
  const timer = new ManualTimer();
  const asked: Asked[] = [];
  const client = {
    getServerCapabilities: () => (options.offers === false ? {} : { completions: {} }),
    complete: (request: CompletionRequest, { signal, timeout }: Pick<Asked, 'signal' | 'timeout'>) => {
      const { promise, resolve } = later<unknown>();
      asked.push({ request, signal, timeout, answer: resolve });
      return promise;
    },
  } as unknown as SdkClient;
  return { completer: new Completer(client, { timer: timer.after, ...options }), timer, asked };
}

function typed(value: string, context?: Readonly<Record<string, string>>, name = 'path'): CompletionRequest {
  const request = { ref: { type: 'ref/prompt', name: 'p' }, argument: { name, value } } as const;
  return context === undefined ? request : { ...request, context: { arguments: context } };
}

const answerOf = (...values: readonly string[]) => ({ completion: { values, total: values.length, hasMore: false } });

describe('Completer.complete()', () => {
  it('asks once nobody has typed for a moment, and for what was typed last', async () => {
    const { completer, timer, asked } = typing({ debounceMs: 100 });
    const first = completer.complete(typed('a'));
    timer.advance(99);
    const second = completer.complete(typed('ab'));
    timer.advance(99);
    assert.equal(asked.length, 0);
    timer.advance(1);
    assert.deepEqual(
      asked.map(({ request }) => request.argument.value),
      ['ab'],
    );
    asked[0]?.answer(answerOf('abc'));
    assert.equal(await first, null);
    assert.deepEqual(await second, { values: ['abc'], total: 1, hasMore: false });
  });

  it('gives the server a deadline', async () => {
    for (const [options, expected] of [
      [{}, 5_000],
      [{ deadlineMs: 70 }, 70],
    ] as const) {
      const { completer, timer, asked } = typing({ debounceMs: 0, ...options });
      const answered = completer.complete(typed('a'));
      timer.advance(0);
      assert.equal(asked[0]?.timeout, expected);
      asked[0]?.answer(answerOf());
      await answered;
    }
  });

  it('cancels a question that is overtaken, and leaves those of other fields alone', async () => {
    const { completer, timer, asked } = typing({ debounceMs: 0 });
    const stale = completer.complete(typed('a'));
    const other = completer.complete(typed('x', undefined, 'language'));
    timer.advance(0);
    const fresh = completer.complete(typed('b'));
    timer.advance(0);
    assert.deepEqual(
      asked.map(({ signal }) => signal.aborted),
      [true, false, false],
    );
    for (const { answer, request } of asked) answer(answerOf(request.argument.value));
    assert.equal(await stale, null);
    assert.deepEqual([(await other)?.values, (await fresh)?.values], [['x'], ['b']]);
  });

  it('asks once for the same that is asked again meanwhile', async () => {
    const { completer, timer, asked } = typing();
    const both = Promise.all([completer.complete(typed('a')), completer.complete(typed('a'))]);
    timer.advance(1_000);
    assert.equal(asked.length, 1);
    asked[0]?.answer(answerOf('a'));
    assert.deepEqual(
      (await both).map((completion) => completion?.values),
      [['a'], ['a']],
    );
  });

  it('gives an answer again at once for a while, in the same context alone', async () => {
    const { completer, timer, asked } = typing({ keepMs: 1_000 });
    const ask = async (
      request: CompletionRequest,
      ...values: readonly string[]
    ): Promise<readonly string[] | undefined> => {
      const before = asked.length;
      const completion = completer.complete(request);
      await Promise.resolve();
      timer.advance(150);
      if (asked.length > before) asked.at(-1)?.answer(answerOf(...values));
      return (await completion)?.values;
    };
    assert.deepEqual(await ask(typed('a'), 'one'), ['one']);
    assert.deepEqual(await ask(typed('a'), 'two'), ['one']);
    assert.deepEqual(await ask(typed('a', { language: 'python' }), 'three'), ['three']);
    timer.advance(1_000);
    assert.deepEqual(await ask(typed('a'), 'four'), ['four']);
    completer.clear();
    assert.deepEqual(await ask(typed('a'), 'five'), ['five']);
  });

  it('keeps no answer that was on its way when all were forgotten', async () => {
    const { completer, timer, asked } = typing();
    const old = completer.complete(typed('a'));
    timer.advance(150);
    completer.clear();
    asked[0]?.answer(answerOf('old'));
    await old;
    void completer.complete(typed('a'));
    timer.advance(150);
    assert.equal(asked.length, 2);
  });

  it('survives answers that are not whole', async () => {
    for (const [result, expected] of [
      [{ completion: { values: ['a'] } }, { values: ['a'], total: undefined, hasMore: false }],
      [
        { completion: { values: ['a', 7, null], total: 'many', hasMore: 1 } },
        { values: ['a'], total: undefined, hasMore: false },
      ],
      [{ completion: { values: 'a' } }, { values: [], total: undefined, hasMore: false }],
      [{}, { values: [], total: undefined, hasMore: false }],
      [null, { values: [], total: undefined, hasMore: false }],
    ] as const) {
      const { completer, timer, asked } = typing();
      const completion = completer.complete(typed('a'));
      timer.advance(150);
      asked[0]?.answer(result);
      assert.deepEqual(await completion, expected);
    }
  });

  it('asks no server that completes nothing', async () => {
    const { completer, asked } = typing({ offers: false });
    assert.deepEqual(await completer.complete(typed('a')), { values: [], total: 0, hasMore: false });
    assert.equal(asked.length, 0);
  });
});

/** What a handler is given, by the SDK of either generation. */
interface Context {
  readonly signal?: AbortSignal;
  readonly mcpReq: { readonly signal: AbortSignal };
}

/** Roots of a fake daemon, and a real server that completes by what it is asked. */
async function completing(
  t: TestContext,
  sdk: Sdk,
  complete: (request: CompletionRequest, cancelled: AbortSignal) => Promise<object>,
  options: CompleterOptions = {},
) {
  const daemon = await FakeDaemon.start(t, temporaryDirectory(t), viewOf({ a: '/a' }));
  const roots = await LiveRoots.open({ server: 's', socket: daemon.socket });
  t.after(() => roots.close());
  const held: { client?: SdkClient } = {};
  await connected(t, sdk, {
    list: null,
    install: (client) => {
      held.client = client;
    },
    setUp: ({ server }) => {
      const { registerCapabilities, setRequestHandler } = server as unknown as Record<
        string,
        (...args: unknown[]) => void
      >;
      registerCapabilities?.call(server, { completions: {} });
      const handle = ({ params }: { readonly params: CompletionRequest }, context: Context): Promise<object> =>
        complete(params, context.signal ?? context.mcpReq.signal);
      const named = sdk === '1.x' ? CompleteRequestSchema : 'completion/complete';
      setRequestHandler?.call(server, named, handle);
      return async () => null;
    },
  });
  assert.ok(held.client);
  return { daemon, roots, completer: roots.completer(held.client, { debounceMs: 0, ...options }) };
}

for (const sdk of SDKS) {
  describe(`LiveRoots.completer() on a client of SDK ${sdk}`, () => {
    it('asks the server, and forgets its answers when the roots change', async (t) => {
      let count = 0;
      const { daemon, roots, completer } = await completing(t, sdk, async ({ argument, context }) => {
        count += 1;
        return answerOf(`${argument.value}${context?.arguments?.root}${count}`);
      });
      const request = typed('v', { root: 'r' });
      assert.deepEqual(await completer.complete(request), { values: ['vr1'], total: 1, hasMore: false });
      assert.deepEqual((await completer.complete(request))?.values, ['vr1']);
      daemon.publish(viewOf({ b: '/b' }));
      await new Promise((resolve) => roots.once('change', resolve));
      assert.deepEqual((await completer.complete(request))?.values, ['vr2']);
    });

    it('tells the server that what is overtaken is cancelled', async (t) => {
      const cancelled = later<string>();
      const asked = later<void>();
      const { completer } = await completing(t, sdk, ({ argument: { value } }, signal) => {
        if (value === 'new') return Promise.resolve(answerOf('fresh'));
        signal.addEventListener('abort', () => cancelled.resolve(value));
        asked.resolve();
        return new Promise(() => {});
      });
      const stale = completer.complete(typed('old'));
      await asked.promise;
      const fresh = completer.complete(typed('new'));
      assert.deepEqual([await stale, (await fresh)?.values], [null, ['fresh']]);
      assert.equal(await cancelled.promise, 'old');
    });

    it('rejects where the server does not answer in time, and asks it again', async (t) => {
      let isSilent = true;
      const answer = () => (isSilent ? new Promise<object>(() => {}) : Promise.resolve(answerOf('late')));
      const { completer } = await completing(t, sdk, answer, { deadlineMs: 300 });
      await assert.rejects(completer.complete(typed('v')), /timed out/i);
      isSilent = false;
      assert.deepEqual((await completer.complete(typed('v')))?.values, ['late']);
    });

    it('rejects where the server answers with an error', async (t) => {
      const { completer } = await completing(t, sdk, async () => {
        throw new Error('out of order');
      });
      await assert.rejects(completer.complete(typed('v')), /out of order/);
    });
  });
}
