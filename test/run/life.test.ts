import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { identifyProcess } from '../../src/run/processes.ts';
import { type Json, OBEDIENT_SERVER, RunHost, useRun } from '../support/run-host.ts';
import { setUpRun } from '../support/run-setup.ts';

const program = useRun();
const errorOf = (message: Json): { message: string; data?: Json } => message.error as { message: string; data?: Json };

describe('rootsd run, the end of the server', () => {
  for (const status of [0, 1, 3, 126, 127, 255]) {
    it(`ends with status ${status} as the server does, and answers what is open`, async (t) => {
      const { host } = await setUpRun(t, program());
      await host.initialize();
      host.send({ id: 'open', method: 'never' });
      host.send({ id: 'exit', method: 'exit', params: { status } });
      const ended = await host.ended;
      assert.deepEqual(ended, { status, signal: null });
      for (const id of ['open', 'exit']) {
        const answer = host.messages.find((message) => message.id === id);
        assert.match(errorOf(answer ?? {}).message, new RegExp(`status ${status}`));
      }
    });
  }

  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGABRT', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const) {
    it(`dies by ${signal} as the server does`, async (t) => {
      const { host } = await setUpRun(t, program());
      await host.initialize();
      host.send({ id: 'die', method: 'die', params: { signal } });
      assert.deepEqual(await host.ended, { status: null, signal });
    });
  }

  it('ends with 128+n where the signal does not end us', async (t) => {
    const { host } = await setUpRun(t, program(), { command: ['sh', '-c', 'kill -PIPE $$'] });
    assert.deepEqual(await host.ended, { status: 128 + constants.signals.SIGPIPE, signal: null });
  });

  it('passes all of a last answer to a host that reads slowly', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    host.process.stdout?.pause();
    host.send({ id: 'big', method: 'big', params: { bytes: 1_000_000 } });
    host.send({ id: 'exit', method: 'exit', params: { status: 0 } });
    await new Promise((resolve) => setTimeout(resolve, 800));
    host.process.stdout?.resume();
    await host.ended;
    const answer = host.messages.find(({ id }) => id === 'big');
    assert.equal(String(answer?.result).length, 1_000_000);
  });

  it('answers the first request of a host whose server ended at once', async (t) => {
    for (let round = 0; round < 10; round++) {
      const { host } = await setUpRun(t, program(), { command: ['false'] });
      host.send({ id: 1, method: 'initialize', params: {} });
      assert.deepEqual(await host.ended, { status: 1, signal: null });
      assert.equal(host.messages.filter(({ id }) => id === 1).length, 1, host.stderr);
      assert.equal(host.stderr.includes('    at '), false, host.stderr);
    }
  });

  it('tells of a server that closes its output and lives on', async (t) => {
    const { host } = await setUpRun(t, program(), { command: ['sh', '-c', 'exec >/dev/null </dev/null; sleep 100'] });
    host.send({ id: 1, method: 'initialize', params: {} });
    assert.match(errorOf(await host.next(({ id }) => id === 1)).message, /closed its output/);
    assert.deepEqual(await host.ended, { status: null, signal: 'SIGTERM' });
  });
});

describe('rootsd run, a command that cannot be started', () => {
  it('is not found: 127, and an error that names it and the PATH', async (t) => {
    const { host } = await setUpRun(t, program(), { command: ['no-such-command-of-ours'] });
    host.send({ id: 1, method: 'initialize', params: {} });
    assert.deepEqual(await host.ended, { status: 127, signal: null });
    const { message } = errorOf(host.messages[0] ?? {});
    assert.ok(message.includes('"no-such-command-of-ours"') && message.includes(`"${process.env.PATH}"`), message);
    assert.ok(host.stderr.includes('no-such-command-of-ours'));
  });

  it('has no pipes, since there is no mkfifo: 78, and what to do', async (t) => {
    const options = ['--stdio', 'pipe'];
    const env = { PATH: '/nonexistent' };
    const { host } = await setUpRun(t, program(), { options, env });
    host.send({ id: 1, method: 'initialize', params: {} });
    assert.deepEqual(await host.ended, { status: 78, signal: null });
    const { message, data } = errorOf(host.messages[0] ?? {});
    assert.match(message, /mkfifo.*leave out "--stdio pipe"/);
    assert.equal(data?.code, 'STDIO_FAILED');
    assert.equal(host.stderr.includes('bug'), false, host.stderr);
  });

  it('is not executable: 126', async (t) => {
    const { base } = await setUpRun(t, program());
    writeFileSync(`${base}/f`, 'x');
    chmodSync(`${base}/f`, 0o644);
    const { host } = await setUpRun(t, program(), { command: [`${base}/f`] });
    host.send({ id: 1, method: 'initialize', params: {} });
    assert.deepEqual(await host.ended, { status: 126, signal: null });
  });
});

describe('rootsd run, the end of the host', () => {
  it('ends the input of the server and passes its status', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    host.process.stdin?.end();
    assert.deepEqual(await host.ended, { status: 0, signal: null });
  });

  it('delivers what the host wrote before it ended its input, and the answers', async (t) => {
    const { host } = await setUpRun(t, program());
    for (let id = 0; id < 1_000; id++) host.send({ id, method: 'echo', params: { id } });
    host.process.stdin?.end();
    await host.ended;
    assert.deepEqual(
      host.messages.map(({ id }) => id),
      Array.from({ length: 1_000 }, (_, id) => id),
    );
  });

  it('ends a server that does not react to it by TERM, and dies by it too', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    await host.ask('stay-on-end');
    host.process.stdin?.end();
    assert.deepEqual(await host.ended, { status: null, signal: 'SIGTERM' });
  });

  it('leaves nothing of a tree that ignores TERM', async (t) => {
    const { host } = await setUpRun(t, program(), {
      command: ['sh', '-c', `trap "" TERM; ${process.execPath} ${OBEDIENT_SERVER}; sleep 1000`],
    });
    await host.initialize();
    const grandchild = Number(await host.ask('child', { ignore: true }));
    await host.ask('ignore-term');
    assert.ok(identifyProcess(grandchild));
    host.process.stdin?.end();
    assert.equal((await host.ended).signal, 'SIGKILL');
    assert.equal(identifyProcess(grandchild), null);
  });

  it('is noticed by its death alone, and nothing of the chain is left', async (t) => {
    const { base, daemon } = await setUpRun(t, program());
    // A shell that starts `run` with an input that stays open, and is killed. The server has a launcher, as npx is one.
    const [fifo, pids] = [`${base}/fifo`, `${base}/pids`];
    const server = `${process.execPath} ${OBEDIENT_SERVER} & sleep 1000 & echo $$ $! >${pids}; wait`;
    const script = `mkfifo ${fifo}; exec 3<>${fifo}; "$@" <&3 >/dev/null & echo $!; wait`;
    const args = [process.execPath, program(), '--socket', daemon.socket, '--', 'sh', '-c', server];
    const shell = spawn('sh', ['-c', script, 'sh', ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    t.after(() => shell.kill('SIGKILL'));
    const run = await new Promise<number>((resolve) => shell.stdout.once('data', (pid) => resolve(Number(pid))));
    t.after(() => identifyProcess(run) && process.kill(run, 'SIGKILL'));
    while (!existsSync(pids) || !readFileSync(pids, 'utf8').endsWith('\n')) await nextTurn();
    const chain = [run, ...readFileSync(pids, 'utf8').trim().split(' ').map(Number)];
    for (const pid of chain) assert.ok(identifyProcess(pid));
    shell.kill('SIGKILL');
    for (const pid of chain)
      while (identifyProcess(pid) !== null) await new Promise((resolve) => setTimeout(resolve, 50));
  });

  it('is noticed where it closes our output', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    host.process.stdout?.destroy();
    host.send({ id: 1, method: 'big', params: { bytes: 100_000 } });
    assert.deepEqual(await host.ended, { status: 0, signal: null });
  });
});

describe('rootsd run, killed itself', () => {
  it('takes a server along that neither the end of its input nor TERM would end, with --pdeathsig', async (t) => {
    const { host } = await setUpRun(t, program(), { options: ['--pdeathsig', 'KILL'] });
    await host.initialize();
    const { pid, ppid } = (await host.ask('environment')) as { pid: number; ppid: number };
    assert.equal(ppid, host.process.pid);
    await host.ask('ignore-term');
    await host.ask('stay-on-end');
    host.process.kill('SIGKILL');
    assert.equal((await host.ended).signal, 'SIGKILL');
    while (identifyProcess(pid) !== null) await nextTurn();
  });

  it('closes the input of its server', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    const { pid } = (await host.ask('environment')) as { pid: number };
    host.process.kill('SIGKILL');
    while (identifyProcess(pid) !== null) await nextTurn();
  });

  for (const command of ['no-such-command-of-ours', '/no/such/command']) {
    it(`says that a command is not found with --pdeathsig too: ${command}`, async (t) => {
      const { host } = await setUpRun(t, program(), { command: [command], options: ['--pdeathsig', 'TERM'] });
      host.send({ id: 1, method: 'initialize', params: {} });
      assert.deepEqual(await host.ended, { status: 127, signal: null });
      assert.ok(errorOf(host.messages[0] ?? {}).message.includes(`"${command}"`));
    });
  }
});

describe('rootsd run, signals', () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    it(`passes ${signal} on and dies by it when the server has`, async (t) => {
      const { host } = await setUpRun(t, program());
      await host.initialize();
      await host.ask('stay-on-end');
      host.process.kill(signal);
      assert.deepEqual(await host.ended, { status: null, signal });
    });
  }

  it('passes on those that need not be the end, and opens no door to a debugger', async (t) => {
    const script = `
      for (const method of ['SIGUSR1', 'SIGUSR2']) process.on(method, () => console.log(JSON.stringify({ method })));
      process.on('SIGQUIT', () => process.exit(7));
      process.stdin.resume();
      console.log('{"method":"ready"}');`;
    const { host } = await setUpRun(t, program(), { command: [process.execPath, '-e', script] });
    await host.next(({ method }) => method === 'ready');
    for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
      host.process.kill(signal);
      await host.next(({ method }) => method === signal);
    }
    assert.doesNotMatch(host.stderr, /Debugger/);
    host.process.kill('SIGQUIT');
    assert.deepEqual(await host.ended, { status: 7, signal: null });
  });

  it('passes the status of a server that handles TERM', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    await host.ask('on-term-exit', { status: 7 });
    host.process.kill('SIGTERM');
    assert.deepEqual(await host.ended, { status: 7, signal: null });
  });

  it('ends what a launcher has started, which TERM to the launcher alone would leave', async (t) => {
    const { host } = await setUpRun(t, program(), {
      command: ['sh', '-c', `exec 3<&0; ${process.execPath} ${OBEDIENT_SERVER} <&3 & exec 3<&-; wait; exit 0`],
    });
    await host.initialize();
    const { pid } = (await host.ask('environment')) as { pid: number };
    await host.ask('stay-on-end');
    host.process.kill('SIGTERM');
    await host.ended;
    assert.equal(identifyProcess(pid), null);
  });

  it('signals no process group: one of ours that is not below the server lives', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    const { ppid } = (await host.ask('environment')) as { ppid: number };
    assert.equal(ppid, host.process.pid);
    host.process.kill('SIGTERM');
    // `run` was started in the group of this very process.
    assert.equal((await host.ended).signal, 'SIGTERM');
  });
});

describe('rootsd run, a host that does not read', () => {
  it('does not keep it from ending when it is told to', { timeout: 30_000 }, async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    const { pid } = (await host.ask('environment')) as { pid: number };
    host.process.stdout?.pause();
    host.send({ id: 'big', method: 'big', params: { bytes: 5_000_000 } });
    const stdout = host.process.stdout;
    while (stdout?.readableLength === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const exited = once(host.process, 'exit');
    host.process.kill('SIGTERM');
    assert.deepEqual(await exited, [null, 'SIGTERM']);
    assert.equal(identifyProcess(pid), null);
  });
});

describe('rootsd run, a bug', () => {
  it('ends all that is below it, answers what is open, and ends with 70', async (t) => {
    const { base, daemon } = await setUpRun(t, program());
    const args = ['--socket', daemon.socket, '--', process.execPath, OBEDIENT_SERVER];
    const host = new RunHost(t, { program: buildBuggyRun(base), args });
    await host.initialize();
    const { pid } = (await host.ask('environment')) as { pid: number };
    const grandchild = Number(await host.ask('child', { ignore: true }));
    host.send({ id: 'open', method: 'never' });
    await host.ask('echo');
    host.process.kill('SIGUSR2');
    assert.deepEqual(await host.ended, { status: 70, signal: null });
    for (const one of [pid, grandchild]) while (identifyProcess(one) !== null) await nextTurn();
    assert.match(host.stderr, /This is a bug in rootsd[\s\S]*made for a test/);
    assert.ok(host.messages.find(({ id }) => id === 'open')?.error);
  });
});

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** `run` with a bug that SIGUSR2 wakes. */
function buildBuggyRun(directory: string): string {
  const outfile = `${directory}/buggy.mjs`;
  const entryPoints = [fileURLToPath(new URL('../support/crashing-run.ts', import.meta.url))];
  buildSync({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20.19' });
  return outfile;
}

describe('rootsd run, what the server gets', () => {
  it('is the environment, the directory and the arguments, unchanged by any shell', async (t) => {
    const args = ['a b', '$HOME', '"q"', ';exit 1', 'new\nline', '', '*', '~'];
    const { host } = await setUpRun(t, program(), { args, env: { SECRET: 's 1', ROOTSD_X: '' } });
    await host.initialize();
    assert.deepEqual(await host.ask('argv'), args);
    const { env, cwd } = (await host.ask('environment')) as { env: Json; cwd: string };
    assert.equal(cwd, process.cwd());
    assert.deepEqual(Object.keys(env).sort(), ['HOME', 'PATH', 'ROOTSD_X', 'SECRET']);
    assert.equal(env.SECRET, 's 1');
  });

  it('is a socket by default, and with --stdio pipe an input that can be opened again', async (t) => {
    const command = [
      'sh',
      '-c',
      `test -p /dev/stdin && test -p /dev/stdout; echo "{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"$?\\"}"; exec cat /dev/stdin`,
    ];
    const pipe = await setUpRun(t, program(), { command, options: ['--stdio', 'pipe'] });
    assert.equal((await pipe.host.next(() => true)).method, '0');
    pipe.host.send({ id: 1, method: 'echoed' });
    await pipe.host.next(({ id }) => id === 1);
    const socket = await setUpRun(t, program(), { command });
    assert.equal((await socket.host.next(() => true)).method, '1');
  });

  it('is our standard error, however much it writes there', async (t) => {
    const { host } = await setUpRun(t, program());
    await host.initialize();
    await host.ask('stderr', { bytes: 1_048_576 });
    host.process.stdin?.end();
    await host.ended;
    assert.equal(host.stderr.length, 1_048_576, host.stderr.replaceAll(/e{9,}/g, ''));
  });
});
