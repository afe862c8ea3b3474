import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, realpathSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Native, openNative } from '../../src/disk/native.ts';
import { observePeer, type PeerFacts } from '../../src/socket/peer-facts.ts';
import { temporaryDirectory } from '../support/tree.ts';

const native = await openNative();
const skip = native === null ? 'koffi is not installed' : process.platform === 'linux' ? false : 'needs Linux';
const asRoot = skip || (process.getuid?.() === 0 ? false : 'needs root');

interface Visit {
  readonly facts: PeerFacts;
  readonly child: ChildProcess;
  readonly socket: Socket;
}

interface VisitOptions {
  readonly uid?: number;
  /** Of the child in Node; `PATH` stands for the socket. */
  readonly script?: string;
  /** The child is this program instead, with the socket as its last argument. */
  readonly command?: readonly [program: string, ...args: readonly string[]];
  readonly native?: Native | null;
}

/** A child connects and is observed at accept. */
async function visit(t: TestContext, options: VisitOptions = {}): Promise<Visit> {
  const { uid, script = 'require("net").connect(PATH); setInterval(() => {}, 1e6)' } = options;
  const directory = temporaryDirectory(t);
  const path = join(directory, 's');
  const server = createServer({ pauseOnConnect: true });
  t.after(() => server.close());
  const observed = new Promise<{ facts: PeerFacts; socket: Socket }>((resolve) => {
    server.once('connection', (socket) => {
      socket.on('error', () => {});
      const facts = observePeer(socket, {
        native: options.native === undefined ? native : options.native,
        ownUid: process.geteuid?.() ?? -1,
        userOf: (of) => ({ uid: of, name: `user-${of}` }),
        listener: 'git',
      });
      resolve({ facts, socket });
    });
  });
  server.listen(path);
  await once(server, 'listening');
  for (const shared of [directory, path]) if (uid !== undefined) chmodSync(shared, 0o777);
  const text = script.replaceAll('PATH', JSON.stringify(path));
  const identity = uid === undefined ? {} : { uid, gid: uid };
  const [program, ...args] =
    options.command === undefined ? [process.execPath, '-e', text] : [...options.command, path];
  const child = spawn(program ?? '', args, { stdio: ['pipe', 'pipe', 'inherit'], ...identity });
  t.after(() => child.kill('SIGKILL'));
  const { facts, socket } = await observed;
  t.after(() => {
    facts.close();
    socket.destroy();
  });
  return { facts, child, socket };
}

test('observePeer() takes uid, gid, pid, program, start time and parent from the kernel', { skip }, async (t) => {
  const { facts, child } = await visit(t);
  const observed = facts.confirm();
  assert.equal(facts.uid, process.getuid?.());
  assert.equal(observed?.pid, child.pid);
  assert.equal(observed?.gid, process.getgid?.());
  assert.deepEqual(observed?.user, { uid: facts.uid, name: `user-${facts.uid}` });
  assert.equal(observed?.exe, realpathSync.native(process.execPath));
  assert.equal(observed?.argv?.[1], '-e');
  assert.match(observed?.startTime ?? '', /^\d+$/);
  assert.equal(observed?.parent?.pid, process.pid);
  assert.equal(observed?.listener, 'git');
});

test('observePeer() names another user by its uid', { skip: asRoot }, async (t) => {
  const { facts } = await visit(t, { uid: 65534 });
  assert.equal(facts.uid, 65534);
  assert.deepEqual([facts.confirm()?.user.uid, facts.confirm()?.gid], [65534, 65534]);
});

test('confirm() is null once the process that connected has ended, whoever holds the connection', {
  skip,
}, async (t) => {
  for (const withPidfd of [true, false]) {
    const without = native === null || withPidfd ? native : { ...native, peerPidfd: () => null };
    // The connection outlives its maker: a grandchild keeps it open.
    const script = `const s = require("net").connect(PATH, () => {
      const c = require("child_process").spawn("sleep", ["30"], { stdio: ["ignore", s, "ignore"], detached: true });
      console.log(c.pid); });`;
    const { facts, child } = await visit(t, { script, native: without });
    assert.ok(child.stdout);
    const [pid] = await once(child.stdout, 'data');
    t.after(() => process.kill(Number(pid), 'SIGKILL'));
    assert.equal(facts.confirm()?.pid, child.pid);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(facts.confirm(), null, `with pidfd: ${withPidfd}`);
    assert.equal(facts.uid, process.getuid?.());
  }
});

test('confirm() is null when the process runs another program by now', { skip }, async (t) => {
  const script = `use Socket; $^F = 99; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
    connect($s, pack_sockaddr_un(shift)) or die; <STDIN>; exec "cat", "/dev/zero";`;
  const { facts, child } = await visit(t, { command: ['perl', '-e', script] });
  assert.equal(facts.confirm()?.pid, child.pid);
  child.stdin?.end('go\n');
  assert.ok(child.stdout);
  await once(child.stdout, 'data');
  assert.equal(facts.confirm(), null);
});

test('confirm() asks whether the process still runs, for another may have its number and its program', {
  skip,
}, async (t) => {
  let isAlive = true;
  assert.ok(native);
  const { facts } = await visit(t, { native: { ...native, isAlive: () => isAlive } });
  assert.ok(facts.confirm());
  isAlive = false;
  assert.equal(facts.confirm(), null);
});

test('close() lets go of the process', { skip }, async (t) => {
  const { facts } = await visit(t);
  const held = () => readdirSync('/proc/self/fd').length;
  const before = held();
  facts.close();
  facts.close();
  assert.equal(held(), before - 1);
});

test('without the native layer the uid is all that is known', async (t) => {
  const { facts } = await visit(t, { native: null });
  const uid = process.geteuid?.() ?? -1;
  assert.deepEqual(facts.confirm(), { user: { uid, name: `user-${uid}` }, listener: 'git' });
});

test('a connection that is gone has no facts', { skip }, async (t) => {
  const { socket } = await visit(t);
  socket.destroy();
  const facts = observePeer(socket, { native, ownUid: 0, userOf: (uid) => ({ uid }) });
  assert.equal(facts.uid, undefined);
  assert.equal(facts.confirm(), null);
});
