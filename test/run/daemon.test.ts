import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PLAN_FIRST_SUFFIX, type PlanFirst } from '../../src/core/plan-first.ts';
import { identifyProcess } from '../../src/run/processes.ts';
import { FakeDaemon, viewOf } from '../support/fake-daemon.ts';
import { type Json, OBEDIENT_SERVER, RunHost, useRun } from '../support/run-host.ts';
import { setUpRun } from '../support/run-setup.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';

const program = useRun();
const server = [process.execPath, OBEDIENT_SERVER];
const initialize: Json = { id: 1, method: 'initialize', params: { capabilities: {} } };
const errorOf = (message: Json | undefined): { message: string; data: Json } =>
  message?.error as { message: string; data: Json };

describe('rootsd run, attaching', () => {
  it('says who the server is, who the host, and what it is about to start', async (t) => {
    const { daemon } = await setUpRun(t, program(), { options: ['--host', 'editor'], args: ['{roots}', 'x'] });
    const { params } = await daemon.next('rootsd/attach');
    const launch = { argv: [...server, '{roots}', 'x'], cwd: process.cwd() };
    assert.deepEqual(params, { version: 1, server: 'o', host: 'editor', launch });
  });

  it('names no server where none was given', async (t) => {
    const base = makeTree(t, ['dir run', 'dir a']);
    const daemon = await FakeDaemon.start(t, `${base}/run`, viewOf({ a: `${base}/a` }));
    const host = new RunHost(t, { program: program(), args: ['--', ...server], env: { ROOTSD_SOCKET: daemon.socket } });
    assert.equal((await daemon.next('rootsd/attach')).params.server, null);
    await host.initialize();
  });

  it('warns of a "~" that nobody expands and of directories that roots replace', async (t) => {
    const { base } = await setUpRun(t, program());
    const { host } = await setUpRun(t, program(), { args: ['~/x', `${base}/a`, `${base}/none`, '/'] });
    await host.initialize();
    assert.deepEqual(await host.ask('argv'), ['~/x', `${base}/a`, `${base}/none`, '/']);
    await host.said('"~/x" reaches the server as it is');
    await host.said(`Directory "${base}/a"`);
    assert.equal(host.stderr.includes(`"${base}/none"`), false);
  });
});

describe('rootsd run, without a daemon', () => {
  it('fails closed where the socket was named: an error that says what to do, 69, and no server', async (t) => {
    const base = temporaryDirectory(t);
    const mark = join(base, 'pid');
    const command = ['sh', '-c', `echo $$ >${mark}; exec cat`];
    const host = new RunHost(t, { program: program(), args: ['--socket', `${base}/rootsd.sock`, '--', ...command] });
    host.send(initialize);
    assert.deepEqual(await host.ended, { status: 69, signal: null });
    const { message, data } = errorOf(host.messages[0]);
    assert.ok(message.includes(`rootsd serve --socket ${base}/rootsd.sock`), message);
    assert.equal(data.code, 'DAEMON_UNREACHABLE');
    assert.ok(host.stderr.includes('there is none'));
    assert.equal(existsSync(mark), false);
  });

  it('starts a server while it asks for the plan, passes it no byte before, and ends it where there is none', async (t) => {
    const base = temporaryDirectory(t);
    const [pid, seen] = [join(base, 'pid'), join(base, 'seen')];
    const command = ['sh', '-c', `echo $$ >${pid}.new; mv ${pid}.new ${pid}; head -c 1 >${seen}`];
    const silent = await FakeDaemon.start(t, base, viewOf({}));
    silent.answers = false;
    const host = new RunHost(t, { program: program(), args: ['--socket', silent.socket, '--', ...command] });
    host.send(initialize);
    await silent.next('rootsd/attach');
    while (!existsSync(pid)) await setImmediate();
    silent.stop();
    assert.deepEqual(await host.ended, { status: 69, signal: null });
    assert.equal(existsSync(seen) ? readFileSync(seen, 'utf8') : '', '');
    assert.equal(identifyProcess(Number(readFileSync(pid, 'utf8'))), null);
  });

  it('starts no server that waits for its plan', async (t) => {
    const base = temporaryDirectory(t);
    const mark = join(base, 'started');
    const silent = await FakeDaemon.start(t, base, viewOf({}));
    silent.answers = false;
    writeFileSync(
      `${silent.socket}${PLAN_FIRST_SUFFIX}`,
      JSON.stringify({ names: ['waits'], commands: [], matches: [] } satisfies PlanFirst),
    );
    const args = ['--socket', silent.socket, '--server', 'waits', '--', 'touch', mark];
    const host = new RunHost(t, { program: program(), args });
    host.send(initialize);
    await silent.next('rootsd/attach');
    silent.stop();
    assert.deepEqual(await host.ended, { status: 69, signal: null });
    assert.equal(existsSync(mark), false);
  });

  it('refuses a socket in a directory that others may write', async (t) => {
    const base = makeTree(t, ['dir open']);
    const daemon = await FakeDaemon.start(t, `${base}/open`, viewOf({}));
    chmodSync(`${base}/open`, 0o777);
    const host = new RunHost(t, { program: program(), args: ['--socket', daemon.socket, '--', ...server] });
    host.send(initialize);
    assert.equal((await host.ended).status, 69);
    assert.ok(host.stderr.includes('its directory is writable by others'), host.stderr);
    assert.equal(daemon.connections, 0);
  });

  const REFUSALS: readonly (readonly [string, string | undefined, number])[] = [
    ['two servers fit', 'PEER_AMBIGUOUS', 64],
    ['another user', 'PEER_OTHER_USER', 77],
    ['too many sessions', 'PEER_SESSIONS_FULL', 75],
    ['no reason that we know', undefined, 77],
  ];
  for (const [what, code, status] of REFUSALS) {
    it(`ends with ${status} where the daemon refuses: ${what}`, async (t) => {
      const base = temporaryDirectory(t);
      const daemon = await FakeDaemon.start(t, base, viewOf({}));
      daemon.refusal = { code: -32603, message: `the reason`, ...(code === undefined ? {} : { data: { code } }) };
      const host = new RunHost(t, { program: program(), args: ['--socket', daemon.socket, '--', ...server] });
      host.send(initialize);
      assert.deepEqual(await host.ended, { status, signal: null });
      assert.ok(errorOf(host.messages[0]).message.includes('the reason'));
    });
  }

  it('ends at once by a signal that comes while it waits', async (t) => {
    const base = temporaryDirectory(t);
    const silent = await FakeDaemon.start(t, base, viewOf({}));
    silent.answers = false;
    const host = new RunHost(t, { program: program(), args: ['--socket', silent.socket, '--', ...server] });
    await silent.next('rootsd/attach');
    host.process.kill('SIGTERM');
    assert.deepEqual(await host.ended, { status: null, signal: 'SIGTERM' });
  });
});

/** A program that stands in for bin/rootsd: it writes down how it was started, and listens where `run` looks. */
function fakeProgram(base: string): string {
  const support = fileURLToPath(new URL('../support/', import.meta.url));
  const path = join(base, 'rootsd.mjs');
  mkdirSync(join(base, 'rootsd'), { mode: 0o700 });
  writeFileSync(
    path,
    `import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
const fds = readdirSync('/proc/self/fd').flatMap((fd) => { try { return [readlinkSync('/proc/self/fd/' + fd)] } catch { return [] } });
const { register } = await import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))});
register();
const { FakeDaemon, viewOf } = await import(${JSON.stringify(`${support}fake-daemon.ts`)});
const stdio = [0, 1, 2].map((fd) => readlinkSync('/proc/self/fd/' + fd));
const stat = (await import('node:fs')).readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ');
writeFileSync(${JSON.stringify(join(base, 'started.json'))}, JSON.stringify({ argv: process.argv.slice(2), flags: process.execArgv, env: process.env, cwd: process.cwd(), fds, stdio, pid: process.pid, session: Number(stat[3]) }));
const daemon = new FakeDaemon(${JSON.stringify(join(base, 'rootsd'))}, viewOf({ a: ${JSON.stringify(base)} }));
await daemon.listen();
setTimeout(() => { daemon.stop(); process.exit(); }, 5000);
`,
  );
  return path;
}

describe('rootsd run, starting a daemon', () => {
  it('starts one of its own: its own session, environment and directory, nothing inherited', async (t) => {
    const base = temporaryDirectory(t);
    const env = {
      TEST_BIN_ROOTSD: fakeProgram(base),
      XDG_RUNTIME_DIR: base,
      HOME: base,
      SECRET: 'x',
      NODE_OPTIONS: '',
    };
    const host = new RunHost(t, { program: program(), args: ['--server', 'o', '--', ...server], env });
    await host.initialize();
    const started = JSON.parse(readFileSync(join(base, 'started.json'), 'utf8'));
    t.after(() => process.kill(started.pid, 'SIGKILL'));
    const { homedir, username, shell } = userInfo();
    const { PATH, ...rest } = started.env;
    assert.deepEqual(started.argv, ['serve', '--idle-exit', '10m']);
    assert.deepEqual(started.flags, ['--max-semi-space-size=2']);
    assert.deepEqual(rest, {
      HOME: homedir,
      USER: username,
      LOGNAME: username,
      SHELL: shell ?? '/bin/sh',
      LANG: 'C.UTF-8',
    });
    assert.notEqual(PATH, process.env.PATH);
    assert.equal(started.cwd, '/');
    assert.equal(started.session, started.pid);
    assert.deepEqual(started.stdio, ['/dev/null', '/dev/null', '/dev/null']);
    assert.deepEqual(
      started.fds.filter((target: string) => target.startsWith('socket:')),
      [],
    );
    host.process.stdin?.end();
    await host.ended;
    assert.ok(identifyProcess(started.pid), 'the daemon outlives the session');
  });

  it('says how the daemon ended where it does not come up', async (t) => {
    const base = temporaryDirectory(t);
    const says = 'rootsd: Cannot start: the reason [X]\\n  Mend it\\n';
    writeFileSync(join(base, 'rootsd.mjs'), `process.stderr.write('${says}'); process.exitCode = 78;`);
    const env = { TEST_BIN_ROOTSD: join(base, 'rootsd.mjs'), XDG_RUNTIME_DIR: base, HOME: base };
    const host = new RunHost(t, { program: program(), args: ['--', ...server], env });
    host.send(initialize);
    assert.deepEqual(await host.ended, { status: 69, signal: null });
    const elsewhere = `"run" uses the home "${userInfo().homedir}" of the user database, not HOME="${base}"`;
    assert.equal(
      errorOf(host.messages[0]).message,
      `Cannot reach the daemon: "rootsd serve" ended with status 78: Cannot start: the reason [X]. Mend it. ${elsewhere}: start "rootsd serve" and give both --socket PATH`,
    );
  });
});

describe('rootsd run, a daemon that goes away', () => {
  it('keeps the list, takes the new one when it is back, and tells only if it differs', async (t) => {
    const { base, daemon, host } = await setUpRun(t, program());
    await host.initialize();
    await host.ask('roots');
    await daemon.next('rootsd/attach');
    daemon.stop();
    const kept = (await host.ask('roots')) as { result: { roots: Json[] } };
    assert.equal(kept.result.roots[0]?.name, 'a');
    await daemon.listen();
    await daemon.next('rootsd/attach');
    await daemon.next('rootsd/ack');
    assert.equal(await host.ask('list-changed'), 0);
    daemon.stop();
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    await daemon.listen();
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    assert.equal(await host.ask('list-changed'), 1);
  });
});
