import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { requestControl } from '../../src/client/control.ts';
import type { StatusReply } from '../../src/daemon/control.ts';
import { connectPeer } from '../socket/raw-peer.ts';
import { needsRoot, runAsNobody } from '../support/nobody.ts';
import { type Outcome, TestHome } from '../support/serve.ts';

const ALLOW_A = 'roots: { a: { path: ~/a } }\nrules: [{ id: allow-a, allow: [a] }]\n';
const TREE = ['dir home/a'];

function openHome(...given: ConstructorParameters<typeof TestHome>): TestHome {
  const home = new TestHome(...given);
  home.policy(ALLOW_A);
  return home;
}

async function answers(home: TestHome): Promise<boolean> {
  return (await home.command('status')).status === 0;
}

/** The error that a daemon printed when it did not come up; it must have listened on nothing. */
function refusal({ err }: Outcome): string {
  assert.doesNotMatch(err, /socket listening/);
  return err.split('\n').find((line) => line.startsWith('rootsd: ')) ?? err;
}

describe('the daemon, starting', () => {
  it('starts again after a kill -9, at once and in the same place', async (t) => {
    const home = openHome(t, TREE);
    const first = await home.serve();
    await first.kill('SIGKILL');
    assert.equal(existsSync(home.socket), true);
    assert.equal(await answers(home), false);
    const second = await home.serve();
    assert.equal(second.count('daemon started'), 1);
    assert.equal(await answers(home), true);
    await home.peer('s');
  });

  it('gives way to one that serves already: 75, says who that is, and leaves it reachable', async (t) => {
    const home = openHome(t, [...TREE, 'link alias -> .', 'dir other']);
    const first = await home.serve();
    const peer = await home.peer('s');
    const other = { HOME: join(home.base, 'other') };
    for (const [what, env, args] of [
      ['the same place', {}, []],
      ['the same place by an alias', other, ['--socket', join(home.base, 'alias/run/rootsd.sock')]],
      ['the same place under another name', other, ['--socket', join(home.base, 'run/mine.sock')]],
      ['another place, the same state', {}, ['--socket', join(home.base, 'run2/rootsd.sock')]],
    ] as const) {
      const { status, err } = await (await home.serveWith({ env }, ...args)).ended;
      assert.equal(status, 75, `${what}: ${err}`);
      assert.ok(err.includes(`the daemon with pid ${first.pid} already serves`), `${what}: ${err}`);
      assert.equal((await peer.request('roots/list')).result.roots.length, 1, what);
      assert.equal(await answers(home), true, what);
    }
  });

  it('leaves exactly one of ten that start at once', async (t) => {
    const home = openHome(t, TREE);
    const all = await Promise.all(Array.from({ length: 10 }, () => home.serve()));
    const winners = all.filter((daemon) => daemon.count('daemon started') === 1);
    assert.equal(winners.length, 1);
    for (const daemon of all.filter((one) => !winners.includes(one))) {
      const { status, err } = await daemon.ended;
      assert.equal(status, 75);
      assert.ok(err.includes(`the daemon with pid ${winners[0]?.pid} already serves`), err);
    }
    assert.equal(await answers(home), true);
  });

  it('refuses a socket path that the kernel would cut, with both lengths, and makes nothing: 78', async (t) => {
    const home = openHome(t, TREE);
    const socket = join(home.base, 'x'.repeat(106 - home.base.length), 'rootsd.sock');
    assert.equal(socket.length, 119);
    const outcome = await (await home.serve('--socket', socket)).ended;
    assert.equal(outcome.status, 78);
    assert.match(refusal(outcome), /the path has 119 bytes, the limit is 107 \[SOCKET_PATH_TOO_LONG\]/);
    assert.deepEqual(
      readdirSync(home.base).filter((name) => name.startsWith('x')),
      [],
    );
  });

  it('keeps its sockets and its state to itself, whatever the umask', async (t) => {
    const home = openHome(t, TREE);
    await home.serveWith({ wrap: ['sh', '-c', 'umask 000; exec "$0" "$@"'] });
    await home.peer('s');
    const state = join(home.home, '.local/state/rootsd');
    const found = [join(home.base, 'run'), state].flatMap((directory) => [
      directory,
      ...readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((it) => join(directory, it)),
    ]);
    const names = found.map((path) => path.slice(home.base.length));
    for (const name of ['/run/rootsd.sock', '/run/control.sock', '/home/.local/state/rootsd/audit.jsonl']) {
      assert.ok(names.includes(name), `${name} in ${names}`);
    }
    for (const path of found) {
      const stats = lstatSync(path);
      assert.equal(stats.mode & 0o777, stats.isDirectory() ? 0o700 : 0o600, path);
    }
  });

  for (const [what, path] of [
    ['runtime', 'run'],
    ['state', 'home/.local/state/rootsd'],
  ] as const) {
    it(`refuses a ${what} directory that others may write: 78`, async (t) => {
      const home = openHome(t, TREE);
      const directory = join(home.base, path);
      mkdirSync(directory, { recursive: true });
      chmodSync(directory, 0o777);
      const outcome = await (await home.serve()).ended;
      assert.equal(outcome.status, 78);
      assert.ok(refusal(outcome).includes(`"${directory}" is writable by others [DIRECTORY_UNSAFE]`), outcome.err);
      assert.equal(statSync(directory).mode & 0o777, 0o777);
    });
  }

  it('says where it cannot make a directory: 78', async (t) => {
    const home = openHome(t, TREE);
    const outcome = await (await home.serve('--socket', '/proc/rootsd/rootsd.sock')).ended;
    assert.equal(outcome.status, 78);
    assert.match(refusal(outcome), /"\/proc\/rootsd": it cannot be made \(E[A-Z]+\) \[DIRECTORY_UNSAFE\]/);
  });

  it('takes no place that somebody else listens on, and removes nothing that is no socket', async (t) => {
    const home = openHome(t, TREE);
    mkdirSync(join(home.base, 'run'), { mode: 0o700 });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(home.socket, resolve));
    t.after(() => server.close());
    const inUse = await (await home.serve()).ended;
    assert.deepEqual([inUse.status, /SOCKET_IN_USE/.test(refusal(inUse))], [75, true]);
    await new Promise((resolve) => server.close(resolve));
    writeFileSync(home.socket, 'mine');
    const noSocket = await (await home.serve()).ended;
    assert.deepEqual([noSocket.status, /SOCKET_UNSAFE/.test(refusal(noSocket))], [78, true]);
    assert.equal(readFileSync(home.socket, 'utf8'), 'mine');
  });

  it('may have its sockets in its state directory', async (t) => {
    const home = openHome(t, TREE);
    const daemon = await home.serve('--socket', join(home.home, '.local/state/rootsd/rootsd.sock'));
    assert.equal(daemon.count('daemon started'), 1);
  });

  it('may have its sockets in a directory that is used for more, and leaves that open as it is', async (t) => {
    const home = openHome(t, [...TREE, 'file shared/f x']);
    chmodSync(join(home.base, 'shared'), 0o755);
    await home.serve('--socket', join(home.base, 'shared/rootsd.sock'));
    assert.equal(statSync(join(home.base, 'shared')).mode & 0o777, 0o755);
    assert.equal(statSync(join(home.base, 'shared/rootsd.sock')).mode & 0o777, 0o600);
  });

  it('serves where it cannot write down where it is, and says so', async (t) => {
    const home = openHome(t, [...TREE, 'dir home/.local/state/rootsd/endpoint']);
    const daemon = await home.serve();
    const { error } = await daemon.logged('endpoint file not written');
    assert.equal((error as { code: string }).code, 'STATE_UNWRITABLE');
    assert.equal(await answers(home), true);
    assert.equal((await daemon.kill('SIGTERM')).status, 0);
  });

  it('is found by clients that know neither socket nor runtime directory', async (t) => {
    const home = openHome(t, TREE);
    await home.serve();
    const { status, out } = await home.runWith({ env: { ROOTSD_SOCKET: undefined } }, 'status', '--json');
    assert.equal(status, 0);
    assert.equal((JSON.parse(out) as StatusReply).layers[1]?.directory, home.directory('user'));
  });
});

describe('the daemon, ending', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`ends in order at ${signal}: exit 0, sessions closed, no file of its own left`, async (t) => {
      const home = openHome(t, TREE);
      const daemon = await home.serve();
      const peer = await home.peer('s');
      const endpoint = join(home.home, '.local/state/rootsd/endpoint');
      assert.equal(readFileSync(endpoint, 'utf8'), `${home.socket}\n`);
      const { status } = await daemon.kill(signal);
      assert.equal(status, 0);
      await peer.ended;
      assert.equal(existsSync(endpoint), false);
      assert.deepEqual(readdirSync(join(home.base, 'run')), ['lock']);
      assert.equal(daemon.count('daemon stopped'), 1);
    });
  }

  it('removes no file that has taken the place of its sockets', async (t) => {
    const home = openHome(t, TREE);
    const daemon = await home.serve();
    home.remove(home.socket);
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(home.socket, resolve));
    t.after(() => other.close());
    const control = join(home.base, 'run/control.sock');
    home.remove(control);
    writeFileSync(control, 'mine');
    assert.equal((await daemon.kill('SIGTERM')).status, 0);
    assert.equal(lstatSync(home.socket).isSocket(), true);
    assert.equal(readFileSync(control, 'utf8'), 'mine');
  });

  it('ends by itself when it has been idle for as long as --idle-exit says, and not before', async (t) => {
    const home = openHome(t, TREE);
    const daemon = await home.serve('--idle-exit', '2s');
    const peer = await home.peer('s');
    // One that starts later and has no session ends, this one does not.
    const lonely = await openHome(t, TREE).serve('--idle-exit', '2s');
    assert.equal((await lonely.ended).status, 0);
    assert.equal((await peer.request('roots/list')).result.roots.length, 1);
    peer.socket.end();
    const { status } = await daemon.ended;
    assert.equal(status, 0);
    assert.equal(daemon.count('peer attached'), 1);
  });

  it('ends when it is told to over its control socket', async (t) => {
    const home = openHome(t, TREE);
    const daemon = await home.serve();
    const search = { explicit: home.socket, uid: process.getuid?.() ?? 0, stateDirectory: null };
    assert.deepEqual(await requestControl('rootsd/stop', {}, { search }), {});
    assert.equal((await daemon.ended).status, 0);
  });

  it('writes its log as JSON lines to standard error, and nothing to standard output', async (t) => {
    const home = openHome(t, TREE);
    const daemon = await home.serve();
    await home.peer('s\u2028"');
    home.policy('rules: [');
    await daemon.logged('layer rejected');
    const { out, err } = await daemon.kill('SIGTERM');
    assert.equal(out, '');
    const lines = err.trimEnd().split('\n');
    for (const line of lines) {
      const { level, message, time = '' } = JSON.parse(line) as Record<string, string>;
      assert.ok(['info', 'warn', 'error'].includes(level ?? ''), line);
      assert.ok(typeof message === 'string' && new Date(time).toISOString() === time, line);
    }
    assert.equal(lines.length > 4, true);
  });
});

interface Knocked {
  readonly error: string | null;
  readonly received: readonly { readonly error: { readonly message: string } }[];
}

const ATTACH = { version: 1, server: 's' };

/** Waits until the daemon has seen that the last of its peers is gone. */
async function settledSessions(home: TestHome): Promise<void> {
  while ((await home.json<StatusReply>('status')).sessions > 0);
}

/** What another user hears at a socket. */
function knock(t: TestContext, path: string): Knocked {
  return JSON.parse(runAsNobody(t, './knock.ts', ['env', `KNOCK_AT=${path}`])) as Knocked;
}

describe('another user', { skip: needsRoot }, () => {
  it('cannot reach the sockets of a daemon', async (t) => {
    const home = openHome(t, TREE);
    await home.serve();
    chmodSync(home.base, 0o755);
    for (const socket of ['rootsd.sock', 'control.sock']) {
      assert.deepEqual(knock(t, join(home.base, 'run', socket)), { error: 'EACCES', received: [] });
    }
  });

  it('is told nothing but why, where it can reach them', async (t) => {
    const home = openHome(t, TREE);
    const daemon = await home.serve();
    for (const path of [home.base, join(home.base, 'run')]) chmodSync(path, 0o755);
    for (const socket of ['rootsd.sock', 'control.sock']) {
      const path = join(home.base, 'run', socket);
      chmodSync(path, 0o666);
      const { error, received } = knock(t, path);
      assert.equal(error, null);
      assert.deepEqual(
        received.map((reply) => reply.error.message),
        ['Cannot serve uid 65534: this daemon serves uid 0 alone'],
      );
    }
    assert.equal((await daemon.logged('peer refused')).uid, 65534);
    assert.equal((await home.json<StatusReply>('status')).sessions, 0);
  });

  it('takes no place and no memory of ours, however many connections it opens', async (t) => {
    const home = openHome(t, TREE);
    home.configure('limits: { sessions: 2 }\nlisteners: { git: { path: git.sock, mode: "0666" } }');
    await home.serve();
    for (const path of [home.base, join(home.base, 'run')]) chmodSync(path, 0o755);
    for (const socket of ['rootsd.sock', 'control.sock', 'git.sock']) {
      const path = join(home.base, 'run', socket);
      chmodSync(path, 0o666);
      const own = [await connectPeer(t, path), await connectPeer(t, path)];
      const received = runAsNobody(t, './crowd.ts', ['env', `KNOCK_AT=${path}`]);
      const replies = received.split('\n').filter((line) => line !== '');
      assert.ok(replies.length > 0);
      for (const reply of replies) {
        assert.equal(JSON.parse(reply).error.message, 'Cannot serve uid 65534: this daemon serves uid 0 alone');
      }
      const [method, params] = socket === 'control.sock' ? ['rootsd/status'] : ['rootsd/attach', ATTACH];
      for (const peer of own) {
        assert.equal((await peer.request(method ?? '', params)).error, undefined);
        peer.socket.destroy();
      }
      await settledSessions(home);
    }
  });
});
