import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { PassThrough, Writable } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ByteSink } from '../../src/run/bytes.ts';
import { type Judge, LineFlow } from '../../src/run/line-flow.ts';
import { LineWriter } from '../../src/run/line-writer.ts';
import { readMessage } from '../../src/run/message.ts';
import { readHead } from '../../src/run/message-edges.ts';
import { ChunkSource, cut } from '../support/chunk-source.ts';
import { useRun } from '../support/run-host.ts';
import { setUpRun } from '../support/run-setup.ts';

/** Drops lines with "drop", passes all others; long ones as they come where their first bytes tell what they are. */
const DROPPING: Omit<Judge, 'ended'> = {
  line: (line) => (line.includes('"drop"') ? 'drop' : 'pass'),
  opening: (head) => (head.includes('"drop"') || readHead(head) === null ? 'hold' : () => undefined),
  tooLong: () => assert.fail('no line is too long'),
};

/** Runs bytes through a flow to a writer that takes its time; what comes out. */
async function flowThrough(chunks: readonly Buffer[]): Promise<Buffer> {
  const taken: Buffer[] = [];
  const slow = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      setImmediate(() => {
        taken.push(Buffer.from(chunk));
        done();
      });
    },
  });
  const writer = new LineWriter(new ByteSink(slow));
  const answers = new LineWriter(new ByteSink(new PassThrough().resume()));
  await new Promise<void>((ended) => {
    new LineFlow(new ChunkSource(chunks), { to: writer, answers, judge: { ...DROPPING, ended } }).start();
  });
  await writer.end();
  return Buffer.concat(taken);
}

const jsonLine = fc
  .record({
    id: fc.oneof(fc.integer(), fc.string({ unit: 'binary' })),
    method: fc.constantFrom('tools/call', 'drop', 'notifications/x', 'é'),
    params: fc.object({ maxDepth: 2, maxKeys: 4 }),
    text: fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc.constantFrom('x'.repeat(20_000), '世'.repeat(40_000)),
    ),
    end: fc.constantFrom('\n', '\r\n'),
    keys: fc.shuffledSubarray(['id', 'method', 'params', 'text'] as const),
  })
  .map(({ keys, end, ...members }) => {
    const message = Object.fromEntries(keys.map((key) => [key, members[key]]));
    return `${JSON.stringify({ jsonrpc: '2.0', ...message })}${end}`;
  });

describe('LineFlow', () => {
  it('passes every byte of every line that is not dropped, in order, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(jsonLine, { maxLength: 20 }),
        fc.array(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 65_536 })), {
          minLength: 1,
          maxLength: 9,
        }),
        async (lines, sizes) => {
          const chunks = cut(Buffer.from(lines.join('')), sizes.every((size) => size < 6) ? [...sizes, 4_096] : sizes);
          const expected = lines.filter((line) => !line.includes('"drop"')).join('');
          assert.equal((await flowThrough(chunks)).toString(), expected);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('passes a last line that has no end', async () => {
    assert.equal(
      (await flowThrough([Buffer.from('{"a":1}\n{"b":'), Buffer.from('2}')])).toString(),
      '{"a":1}\n{"b":2}',
    );
  });
});

describe('LineWriter', () => {
  it('writes own lines only where a line ends', async () => {
    const taken: string[] = [];
    const writer = new LineWriter(
      new ByteSink(
        new Writable({
          write(chunk, _encoding, done) {
            taken.push(String(chunk));
            done();
          },
        }),
      ),
    );
    writer.insert('own 1');
    writer.pass(Buffer.from('line 1\nli'), false);
    writer.insert('own 2');
    writer.insert('own 3');
    writer.pass(Buffer.from('ne'), false);
    writer.pass(Buffer.from(' 2\n'), true);
    writer.insert('own 4');
    await writer.end();
    assert.equal(taken.join(''), 'own 1\nline 1\nline 2\nown 2\nown 3\nown 4\n');
  });

  it('does not continue a line at another sink', async () => {
    const texts = ['', ''];
    const sinkOf = (i: number): ByteSink =>
      new ByteSink(
        new Writable({
          write(chunk, _encoding, done) {
            texts[i] += String(chunk);
            done();
          },
        }),
      );
    const writer = new LineWriter(sinkOf(0));
    writer.pass(Buffer.from('begun'), false);
    writer.redirect(sinkOf(1));
    writer.insert('own');
    writer.pass(Buffer.from(' and never ended\n'), true);
    writer.pass(Buffer.from('next\n'), true);
    await writer.end();
    assert.deepEqual(texts, ['begun', 'own\nnext\n']);
  });
});

describe('readMessage()', () => {
  const spelling = fc.constantFrom(JSON.stringify, (value: unknown) =>
    JSON.stringify(value, null, 1).replaceAll('\n', ''),
  );
  it('reads with a look at the edges what JSON.parse() reads', () => {
    fc.assert(
      fc.property(jsonLine, spelling, (line, spell) => {
        const text = spell(JSON.parse(line));
        const { id, method } = JSON.parse(text) as { id?: unknown; method?: unknown };
        const message = readMessage(Buffer.from(text));
        const expectedId = id === undefined ? null : JSON.stringify(id);
        if (typeof method === 'string') {
          assert.equal(message.kind, 'call');
          assert.equal(message.kind === 'call' && message.method, method);
          // A notification has no id that matters.
          if (!method.startsWith('notifications/')) assert.equal(message.kind === 'call' && message.id, expectedId);
        } else assert.equal(message.kind, 'noise');
      }),
    );
  });

  /** Lines of real SDKs and tools, and what they are. */
  const ROWS: readonly (readonly [string, ReturnType<typeof readMessage>])[] = [
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', { kind: 'call', method: 'ping', id: '1' }],
    [
      '{"method":"tools/call","params":{"id":5},"jsonrpc":"2.0","id":7}',
      { kind: 'call', method: 'tools/call', id: '7' },
    ],
    ['{"jsonrpc": "2.0", "method": "x", "id": "a", "params": {"id": 5}}', { kind: 'call', method: 'x', id: '"a"' }],
    ['{"result":{"id":3},"jsonrpc":"2.0","id":"q"}\r\n', { kind: 'answer', id: '"q"' }],
    ['{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"id"}}', { kind: 'answer', id: '4' }],
    ['{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}', { kind: 'answer', id: 'null' }],
    ['{"params":{"method":"roots/list","id":1},"method":"x"}', { kind: 'call', method: 'x', id: null }],
    [
      '{"jsonrpc":"2.0","id":12345678901234567890,"method":"x"}',
      { kind: 'call', method: 'x', id: '12345678901234567890' },
    ],
    ['{"id":"a\\u0062","method":"x"}', { kind: 'call', method: 'x', id: '"ab"' }],
    ['{"jsonrpc":"2.0","method":"x","params":{"a":{"id":5}}}', { kind: 'call', method: 'x', id: null }],
    ['[{"id":1,"method":"x"}]', { kind: 'batch' }],
    ['{"level":"info","msg":"started"}', { kind: 'noise' }],
    ['Server listening', { kind: 'noise' }],
    ['', { kind: 'noise' }],
    ['"roots/list"', { kind: 'noise' }],
  ];
  for (const [line, expected] of ROWS) {
    it(`reads ${line.trim() || 'an empty line'}`, () => assert.deepEqual(readMessage(Buffer.from(line)), expected));
  }
});

const program = useRun();

describe('rootsd run, bytes', () => {
  it('pass both ways as they are: odd numbers, escapes, blanks, CRLF, what is no JSON', async (t) => {
    // The guard passes on nothing that could be read in two ways.
    const { host } = await setUpRun(t, program(), { plan: { guard: 'off' } });
    await host.initialize();
    const lines = [
      '{"jsonrpc":"2.0","id":"q1","method":"nothing","params":{"n":1.0,"big":123456789012345678901234567890,"e":"\\u00e9\\/","_meta":{"traceparent":"00-x"}}}',
      '  { "method" : "notifications/y" }  \r',
      'not json at all',
      '{"broken":',
      '[]',
    ];
    host.write(`${lines.join('\n')}\n`);
    const received = (await host.ask('received')) as string[];
    // readline takes the carriage return away.
    assert.deepEqual(
      received.slice(2, -1),
      lines.map((line) => line.replace(/\r$/, '')),
    );
    const back = '{"jsonrpc":"2.0","method":"notifications/z","params":{"n":1.0,"s":"\\u00e9\\/ 世"} }\r\n';
    await host.ask('raw', { text: back });
    assert.ok(host.output.includes(back));
  });

  it('of a line of 5 MiB pass both ways, multi-byte characters and all', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    const text = '世é😀x'.repeat(500_000);
    const echoed = (await host.ask('echo', { text })) as { text: string };
    const digest = (value: string): string => createHash('sha256').update(value).digest('hex');
    assert.equal(digest(echoed.text), digest(text));
  });

  it('arrive alike one at a time', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    const line = Buffer.from('{"jsonrpc":"2.0","id":"b","method":"echo","params":{"s":"😀世é\u0301"}}\n');
    for (const byte of line) {
      host.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual((await host.next(({ id }) => id === 'b')).result, { s: '😀世é\u0301' });
  });

  it('flow both ways at once without one waiting for the other', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    const text = 'x'.repeat(1_000_000);
    const answers = Array.from({ length: 16 }, () => host.ask('echo', { text }));
    for (const answer of await Promise.all(answers))
      assert.equal((answer as { text: string }).text.length, text.length);
  });
});

describe('rootsd run, what a server writes that is no message', () => {
  it('goes to standard error, and the session goes on', async (t) => {
    const { host } = await setUpRun(t, program());
    const banner = Array.from({ length: 100 }, (_, i) => `banner ${i}\n`).join('');
    host.send({
      id: 'raw',
      method: 'raw',
      params: { text: `${banner}{"level":"info"}\n\n{"jsonrpc":"2.0","method":"notifications/kept"}\n` },
    });
    await host.initialize();
    assert.deepEqual(host.messages.map(({ id, method }) => id ?? method).slice(0, 2), ['notifications/kept', 'raw']);
    await host.said('banner 99');
    await host.said('{"level":"info"}');
    host.process.stdin?.end();
    await host.ended;
    assert.match(host.stderr, /wrote 101 lines that are no messages/);
  });

  it('is cut off where there is too much of it', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    for (let i = 0; i < 10; i++) await host.ask('raw', { text: `${'noise '.repeat(1_000)}\n` });
    await host.said('only counted');
    assert.ok(host.stderr.length < 40_000);
  });

  it('and looks like header framing is noise from a server that has spoken', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    await host.ask('raw', { text: 'Content-Length: 5\n' });
    await host.said('Content-Length: 5');
    assert.deepEqual(await host.ask('echo', { still: 'there' }), { still: 'there' });
  });

  it('and looks like header framing is an error for the host', async (t) => {
    const command = ['sh', '-c', 'printf "Content-Length: 5\\r\\n\\r\\n"; cat >/dev/null'];
    const { host } = await setUpRun(t, program(), { command });
    host.send({ id: 1, method: 'initialize', params: {} });
    const { error } = (await host.next(({ id }) => id === 1)) as { error: { message: string } };
    assert.match(error.message, /Content-Length/);
    await host.ended;
  });
});
