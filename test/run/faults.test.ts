import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { attach } from '../../src/client/attach.ts';
import { Notices } from '../../src/run/notices.ts';
import { RunSession } from '../../src/run/run-session.ts';
import { FakeDaemon, viewOf } from '../support/fake-daemon.ts';
import { HostInProcess } from '../support/host-in-process.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { type Json, OBEDIENT_SERVER, RunHost, useRun } from '../support/run-host.ts';
import { setUpRun } from '../support/run-setup.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';

const program = useRun();
const CRASHING_SERVER = fileURLToPath(new URL('../support/crashing-server.mjs', import.meta.url));

describe('rootsd run, a server that ends at any point', () => {
  const POINTS = [
    'start',
    'initialize',
    'mid-answer',
    'answered',
    'initialized',
    'asked',
    'told',
    'call',
    'mid-long-answer',
    'called',
  ];
  for (const point of POINTS) {
    it(`answers what the host asked, and ends as it did: ${point}`, async (t) => {
      const command = [process.execPath, CRASHING_SERVER, point];
      const { host } = await setUpRun(t, program(), { command });
      host.send({ id: 1, method: 'initialize', params: { capabilities: {} } });
      host.send({ method: 'notifications/initialized' });
      host.send({ id: 2, method: 'call' });
      assert.deepEqual(await host.ended, { status: 3, signal: null });
      const answered = new Set(host.messages.map(({ id }) => id));
      if (point !== 'start') assert.ok(answered.has(2), 'the call has an answer');
      assert.ok(answered.has(1), 'initialize has an answer');
      assert.equal(/^\s+at /m.test(host.stderr), false, host.stderr);
    });
  }
});

describe('rootsd run, many at once', () => {
  it('answers the first roots/list of each of twenty', async (t) => {
    const base = makeTree(t, ['dir a', 'dir run']);
    const daemon = await FakeDaemon.start(t, `${base}/run`, viewOf({ a: `${base}/a` }));
    const args = ['--socket', daemon.socket, '--', process.execPath, OBEDIENT_SERVER];
    const hosts = Array.from({ length: 20 }, () => new RunHost(t, { program: program(), args }));
    const answers = await Promise.all(
      hosts.map(async (host) => {
        await host.initialize();
        return (await host.ask('roots')) as { result: { roots: Json[] } };
      }),
    );
    for (const { result } of answers) assert.equal(result.roots[0]?.name, 'a');
  });
});

describe('rootsd run, odd ends', () => {
  it('reads a file and writes a file', async (t) => {
    const { base, daemon } = await setUpRun(t, program());
    const text = 'x'.repeat(1_000);
    const lines = Array.from({ length: 500 }, (_, id) =>
      JSON.stringify({ jsonrpc: '2.0', id, method: 'echo', params: { text } }),
    );
    writeFileSync(join(base, 'in'), `${lines.join('\n')}\n`);
    const input = openSync(join(base, 'in'), 'r');
    const output = openSync(join(base, 'out'), 'w');
    const args = [program(), '--socket', daemon.socket, '--', process.execPath, OBEDIENT_SERVER];
    const child = spawn(process.execPath, args, { stdio: [input, output, 'ignore'] });
    const [status] = await once(child, 'close');
    closeSync(input);
    closeSync(output);
    assert.equal(status, 0);
    const answers = readFileSync(join(base, 'out'), 'utf8').trimEnd().split('\n');
    assert.deepEqual(
      answers.map((line) => JSON.parse(line).id),
      lines.map((_, id) => id),
    );
  });

  it('ends with a host whose input ends before it begins', async (t) => {
    const { daemon } = await setUpRun(t, program());
    const args = [program(), '--socket', daemon.socket, '--', process.execPath, OBEDIENT_SERVER];
    const child = spawn(process.execPath, args, { stdio: 'ignore' });
    assert.deepEqual(await once(child, 'close'), [0, null]);
  });
});

describe('RunSession', () => {
  it('says of a server that has not asked for roots within 10 s that they restrict it only if it does', async (t) => {
    const daemon = await FakeDaemon.start(t, temporaryDirectory(t), viewOf({ a: '/a' }));
    const timer = new ManualTimer();
    const said: string[] = [];
    const host = new HostInProcess();
    const session = new RunSession({
      run: {
        server: 's',
        host: null,
        socket: daemon.socket,
        stdio: 'socket',
        command: [process.execPath, OBEDIENT_SERVER],
      },
      host,
      mayStartEarly: () => true,
      reach: (heard) => attach({ sockets: () => [daemon.socket], params: { version: 1, server: 's' }, ...heard }),
      runtimeDirectories: [],
      notices: new Notices((bytes) => said.push(String(bytes))),
      timer: timer.after,
    });
    const ended = session.run();
    await host.request(1, 'initialize', { capabilities: {} });
    host.send({ method: 'notifications/initialized' });
    await host.request(2, 'echo');
    timer.advance(9_999);
    assert.deepEqual(said, []);
    timer.advance(1);
    assert.match(said.join(''), /has not asked for roots/);
    while ((await daemon.next('rootsd/report')).params.askedForRoots !== false);
    host.end();
    assert.deepEqual(await ended, { status: 0, signal: null });
  });
});
