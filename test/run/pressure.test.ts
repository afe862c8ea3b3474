// Long lines, sides that do not read, ends that are gone.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, type Hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { describe, it, type TestContext } from 'node:test';
import { ByteSink } from '../../src/run/bytes.ts';
import { type Judge, LineFlow } from '../../src/run/line-flow.ts';
import { LineWriter } from '../../src/run/line-writer.ts';
import { ChunkSource } from '../support/chunk-source.ts';
import { FakeDaemon, viewOf } from '../support/fake-daemon.ts';
import { useRun } from '../support/run-host.ts';
import { setUpRun } from '../support/run-setup.ts';
import { makeTree } from '../support/tree.ts';

const program = useRun();
const MIB = 1024 * 1024;

/** The most memory that a process has had, in bytes. */
function peakOf(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kilobytes) * 1024;
}

/** `run` in front of a command, whose output is hashed and not kept. */
async function startRun(t: TestContext, command: readonly string[]) {
  const base = makeTree(t, ['dir a', 'dir run']);
  const daemon = await FakeDaemon.start(t, `${base}/run`, viewOf({ a: `${base}/a` }));
  const args = [program(), '--socket', daemon.socket, '--', ...command];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  t.after(() => child.kill('SIGKILL'));
  return { child, pid: child.pid ?? 0 };
}

async function writeAll(stream: Writable, hash: Hash, pieces: Iterable<Buffer>): Promise<void> {
  for (const piece of pieces) {
    hash.update(piece);
    if (!stream.write(piece)) await new Promise((resolve) => stream.once('drain', resolve));
  }
}

function* answerOf(bytes: number): Generator<Buffer> {
  yield Buffer.from('{"jsonrpc":"2.0","id":1,"result":"');
  for (let left = bytes; left > 0; left -= MIB) yield Buffer.alloc(MIB, 'é\\"');
  yield Buffer.from('"}\n');
}

describe('rootsd run, a line of any length', () => {
  it('passes both ways as it comes, in little memory', async (t) => {
    const { child, pid } = await startRun(t, ['cat']);
    const [sent, received] = [createHash('sha256'), createHash('sha256')];
    const told = { bytes: 0, peak: 0 };
    child.stdout.on('data', (chunk: Buffer) => {
      received.update(chunk);
      told.bytes += chunk.length;
      if (told.bytes > 127 * MIB) told.peak ||= peakOf(pid);
    });
    await writeAll(child.stdin, sent, answerOf(128 * MIB));
    child.stdin.end();
    await finished(child.stdout);
    assert.equal(received.digest('hex'), sent.digest('hex'));
    assert.ok(told.peak > 0 && told.peak < 110 * MIB, `${told.peak / MIB} MiB`);
  });

  it('is kept once where it is a request that may have to be sent again', async (t) => {
    const { host } = await setUpRun(t, program(), { plan: { guard: 'off' } });
    const roots = '{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}';
    const script = [`{"result":${roots},"id":$ID}`, '{"result":{"resultType":"complete"},"id":$ID}'];
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const params = { name: 'x', arguments: { script, text: '\n'.repeat(20 * MIB) }, _meta };
    host.send({ id: 1, method: 'tools/call', params });
    assert.ok((await host.next(({ id }) => id === 1)).result);
    const peak = peakOf(host.process.pid ?? 0);
    // The line of 40 MiB, and the pieces in which it came.
    assert.ok(peak < 150 * MIB, `${peak / MIB} MiB`);
  });

  it('ends the session where it must be held and has more than 64 MiB', async (t) => {
    const line = `process.stdout.write('{"method":"x","params":"');for(let i=0;i<70;i++)process.stdout.write('x'.repeat(${MIB}))`;
    const { host } = await setUpRun(t, program(), {
      command: [process.execPath, '-e', `${line};process.stdin.resume()`],
    });
    host.send({ id: 1, method: 'initialize', params: {} });
    const { error } = (await host.next(({ id }) => id === 1)) as { error: { message: string } };
    assert.match(error.message, /more than 64 MiB/);
    await host.ended;
  });

  it('ends the session where the host writes such a one', async (t) => {
    const { host } = await setUpRun(t, program());
    host.send({ id: 1, method: 'never' });
    host.write('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":"');
    for (let i = 0; i < 65; i++) host.write(Buffer.alloc(MIB, 'x'));
    const { error } = (await host.next(({ id }) => id === 1)) as { error: { message: string } };
    assert.match(error.message, /more than 64 MiB/);
    assert.ok((await host.next(({ id }) => id === 2)).error);
    await host.ended;
    assert.equal(host.process.exitCode, 1);
  });
});

/** A writer whose stream takes what it is given only when it is told to. */
function stuckWriter(): { readonly writer: LineWriter; readonly release: () => void; readonly taken: () => string } {
  const waiting: (() => void)[] = [];
  const taken: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      taken.push(Buffer.from(chunk));
      waiting.push(done);
    },
  });
  const release = (): void => {
    for (const done of waiting.splice(0)) done();
  };
  return { writer: new LineWriter(new ByteSink(stream)), release, taken: () => Buffer.concat(taken).toString() };
}

const PASSING: Judge = {
  line: () => 'pass',
  opening: () => () => undefined,
  ended: () => undefined,
  tooLong: () => assert.fail(),
};
const CHUNKS = Array.from({ length: 100 }, (_, i) => Buffer.from(`{"n":${i}}\n`));

describe('LineFlow', () => {
  it('reads nothing more while the other side does not read, and goes on when it does', async () => {
    const { writer, release, taken } = stuckWriter();
    const answers = new LineWriter(new ByteSink(new PassThrough().resume()));
    const flow = new LineFlow(new ChunkSource(CHUNKS), { to: writer, answers, judge: PASSING });
    flow.start();
    assert.deepEqual([flow.received, flow.isPaused], [CHUNKS[0]?.length, true]);
    while (taken().length < Buffer.concat(CHUNKS).length) {
      release();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(taken(), Buffer.concat(CHUNKS).toString());
  });

  it('passes a last line without an end, and tells of the end, when what it waits for is there', async () => {
    const stream = new PassThrough();
    const gate = { isOpen: false, hasEnded: false };
    const flow = new LineFlow(new ChunkSource([Buffer.from('{"n":1}')]), {
      to: new LineWriter(new ByteSink(stream)),
      answers: new LineWriter(new ByteSink(new PassThrough().resume())),
      judge: {
        ...PASSING,
        line: () => (gate.isOpen ? 'pass' : 'wait'),
        opening: () => 'hold',
        ended: () => {
          gate.hasEnded = true;
        },
      },
    });
    flow.start();
    assert.deepEqual([flow.isPaused, gate.hasEnded], [true, false]);
    gate.isOpen = true;
    flow.resume();
    assert.equal(gate.hasEnded, true);
    assert.equal(String(stream.read()), '{"n":1}');
  });

  it('judges a line that waits again when it is told so, and not because somebody reads', async () => {
    const { writer, release, taken } = stuckWriter();
    const seen: string[] = [];
    let verdict: 'pass' | 'wait' = 'wait';
    const flow = new LineFlow(new ChunkSource(CHUNKS.slice(0, 2)), {
      to: writer,
      answers: new LineWriter(new ByteSink(new PassThrough().resume())),
      judge: {
        ...PASSING,
        line(line) {
          seen.push(String(line));
          return seen.length === 1 ? 'pass' : verdict;
        },
      },
    });
    flow.start();
    release();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(seen, ['{"n":0}\n', '{"n":1}\n']);
    flow.resume();
    assert.equal(seen.length, 3);
    writer.insert('x'.repeat(MIB));
    verdict = 'pass';
    flow.resume();
    assert.equal(seen.length, 3, 'the other side does not read');
    while (!taken().endsWith('{"n":1}\n')) {
      release();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(seen.length, 4);
  });

  it('reads nothing more from a side that does not read our answers', async () => {
    const { writer, release } = stuckWriter();
    const to = new LineWriter(new ByteSink(new PassThrough().resume()));
    writer.insert('x'.repeat(2 * MIB));
    const flow = new LineFlow(new ChunkSource(CHUNKS), { to, answers: writer, judge: PASSING });
    flow.start();
    assert.deepEqual([flow.received, flow.isPaused], [CHUNKS[0]?.length, true]);
    release();
    while (flow.received < Buffer.concat(CHUNKS).length) await new Promise((resolve) => setImmediate(resolve));
  });
});

describe('rootsd run, an end that is gone', () => {
  it('goes on where nobody reads standard error any more', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    host.process.stderr?.destroy();
    for (let i = 0; i < 20; i++) await host.ask('raw', { text: `${'noise '.repeat(500)}\n` });
    assert.deepEqual(await host.ask('echo', { still: 'there' }), { still: 'there' });
    host.process.stdin?.end();
    assert.deepEqual(await host.ended, { status: 0, signal: null });
  });

  for (const options of [[], ['--stdio', 'pipe']]) {
    it(`passes what a server writes that does not listen any more: ${options.join(' ') || 'socket'}`, async (t) => {
      const script =
        'read first; exec 0<&-; echo \'{"jsonrpc":"2.0","method":"closed"}\'; while ! test -e "$0"; do sleep 0.05; done; echo \'{"jsonrpc":"2.0","id":1,"result":{}}\'';
      const base = makeTree(t, ['dir d']);
      const { host } = await setUpRun(t, program(), { command: ['sh', '-c', script, `${base}/d/go`], options });
      host.send({ id: 1, method: 'initialize', params: {} });
      await host.next(({ method }) => method === 'closed');
      for (let i = 0; i < 100; i++) host.send({ method: 'notifications/x', params: { text: 'x'.repeat(10_000) } });
      writeFileSync(`${base}/d/go`, '');
      assert.deepEqual((await host.next(({ id }) => id === 1)).result, {});
      assert.deepEqual(await host.ended, { status: 0, signal: null });
    });
  }
});
