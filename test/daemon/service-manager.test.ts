import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it, type TestContext } from 'node:test';
import { openNative } from '../../src/disk/native.ts';
import { connectPeer, type RawPeer } from '../socket/raw-peer.ts';
import { installProgram } from '../support/installed.ts';
import { type Served, TestHome } from '../support/serve.ts';

const needs = (...programs: readonly string[]): string | false =>
  programs.every((program) => existsSync(`/usr/bin/${program}`)) ? false : `needs ${programs.join(' and ')}`;
const needsKoffi = (await openNative()) === null ? 'koffi is not installed' : false;

/** With koffi, and as it is installed where that cannot be built. */
const WAYS: readonly (readonly [way: string, without: readonly string[], skip: string | false])[] = [
  ['with koffi', [], needs('python3', 'systemd-socket-activate') || needsKoffi],
  ['without koffi', ['koffi', '@koromix'], needs('python3', 'systemd-socket-activate', 'systemd-notify')],
];

const POLICY = 'roots: { a: { path: ~/a } }\nrules: [{ id: all, allow: [a] }]\n';

/** Prints each state that it receives as a line of JSON. */
const RECEIVER = `
import json, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("[]", flush=True)
while True:
    state = s.recv(4096).decode()
    if not state.startswith("BARRIER"):
        print(json.dumps(state.split("\\n")), flush=True)`;

/** A service manager that only listens; `next()` waits for the first state that has not been asked for. */
class Manager {
  readonly address: string;
  readonly #process: ChildProcess;
  readonly #states: (readonly string[])[] = [];
  #wake: (() => void) | null = null;

  constructor(t: Pick<TestContext, 'after'>, directory: string) {
    this.address = join(directory, 'notify.sock');
    this.#process = spawn('python3', ['-c', RECEIVER, this.address], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => this.#process.kill('SIGKILL'));
    const { stdout } = this.#process;
    assert.ok(stdout);
    createInterface({ input: stdout }).on('line', (line) => {
      this.#states.push(JSON.parse(line) as string[]);
      this.#wake?.();
    });
  }

  /** Drops what has come and was not asked for. */
  forget(): void {
    this.#states.length = 0;
  }

  /** The next state that begins so. */
  async nextOf(first: string): Promise<readonly string[]> {
    for (;;) {
      const state = await this.next();
      if (state[0] === first) return state;
    }
  }

  async next(): Promise<readonly string[]> {
    for (;;) {
      const state = this.#states.shift();
      if (state !== undefined) return state;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

async function manage(t: TestContext, home: TestHome): Promise<Manager> {
  const manager = new Manager(t, home.base);
  await manager.next();
  return manager;
}

for (const [way, without, skip] of WAYS) {
  describe(`the service manager, ${way}`, { skip }, () => {
    const built = { directory: '', program: '' };
    before(() => {
      built.directory = mkdtempSync(join(tmpdir(), 'rootsd-installed-'));
      built.program = installProgram(built.directory, { without });
      assert.equal(existsSync(join(built.directory, 'node_modules/koffi')), without.length === 0);
    });
    after(() => rmSync(built.directory, { recursive: true }));

    it('is told of the start, of each reload, also of one that fails, of life, and of the end', async (t) => {
      const home = new TestHome(t, ['dir home/a']);
      home.policy(POLICY);
      const manager = await manage(t, home);
      const env = { NOTIFY_SOCKET: manager.address, WATCHDOG_USEC: '200000' };
      const daemon = await home.serveWith({ env, program: built.program });
      const [ready, inForce = ''] = await manager.next();
      assert.equal(ready, 'READY=1');
      assert.match(inForce, /^STATUS=Generation [0-9a-f]{16} is in force$/);
      for (let i = 0; i < 3; i += 1) assert.deepEqual(await manager.nextOf('WATCHDOG=1'), ['WATCHDOG=1']);

      for (const [text, status] of [
        ['rules: [', /^STATUS=degraded: .*test\.yaml:\d+:\d+: error: /],
        [POLICY, /^STATUS=Generation /],
      ] as const) {
        home.policy(text);
        const [, monotonic = ''] = await manager.nextOf('RELOADING=1');
        assert.match(monotonic, /^MONOTONIC_USEC=\d+$/);
        const [, said = ''] = await manager.nextOf('READY=1');
        assert.match(said, status);
      }

      // A main loop that is stuck says nothing; one that goes on says so again.
      daemon.process.kill('SIGSTOP');
      manager.forget();
      daemon.process.kill('SIGCONT');
      await manager.nextOf('WATCHDOG=1');

      await daemon.kill('SIGTERM');
      assert.deepEqual(await manager.nextOf('STOPPING=1'), ['STOPPING=1']);
      assert.equal(daemon.count('service manager not told'), 0);
    });

    it('opens sockets, which are served by their names and stay when the daemon has ended', async (t) => {
      const home = new TestHome(t, ['dir home/a']);
      home.configure('listeners: { git: { path: git.sock } }\n');
      home.policy(`servers: { git: { socket: git } }\n${POLICY.replace('allow: [a]', 'allow: [a], servers: [git]')}`);
      const run = dirname(home.socket);
      mkdirSync(run, { mode: 0o700 });
      const manager = await manage(t, home);
      const names = ['peers', 'control', 'git'];
      const paths = ['rootsd.sock', 'control.sock', 'git.sock'].map((name) => join(run, name));
      const env = { NOTIFY_SOCKET: manager.address };
      const daemon = home.begin({ wrap: activate({ ...home.env, ...env }, paths, names), program: built.program });
      const git = await connectWhenThere(t, paths[2] ?? '', daemon);
      await manager.nextOf('READY=1');
      const { result } = await git.request('rootsd/attach', { version: 1, server: 'git' });
      assert.equal((result as { roots: unknown[] }).roots.length, 1);
      // Who only says to be that server has not come by its socket.
      const claims = await connectPeer(t, home.socket);
      const other = await claims.request('rootsd/attach', { version: 1, server: 'git' });
      assert.equal((other.result as { roots: unknown[] }).roots.length, 0);
      assert.equal((await home.command('status')).status, 0);
      await daemon.kill('SIGTERM');
      await manager.nextOf('STOPPING=1');
      await git.closed;
      for (const path of paths) assert.ok(existsSync(path), path);
    });

    it('may leave a socket without a name: it is that of the peers', async (t) => {
      const home = new TestHome(t, ['dir home/a']);
      home.policy(POLICY);
      mkdirSync(dirname(home.socket), { mode: 0o700 });
      const daemon = home.begin({ wrap: activate(home.env, [home.socket]), program: built.program });
      const peer = await connectWhenThere(t, home.socket, daemon);
      const { result } = await peer.request('rootsd/attach', { version: 1, server: 's' });
      assert.equal((result as { roots: unknown[] }).roots.length, 1);
      await daemon.kill('SIGTERM');
      assert.ok(existsSync(home.socket));
      assert.equal(existsSync(join(dirname(home.socket), 'control.sock')), false);
    });
  });
}

/** systemd's own program that listens and starts what is behind it at the first connection, as a socket unit does. */
function activate(
  env: Readonly<Record<string, string>>,
  paths: readonly string[],
  names: readonly string[] = [],
): readonly string[] {
  const listen = paths.flatMap((path) => ['-l', path]);
  const fdnames = names.length === 0 ? [] : [`--fdname=${names.join(':')}`];
  const set = Object.entries(env).flatMap(([name, value]) => ['-E', `${name}=${value}`]);
  return ['sh', '-c', 'umask 077; exec "$0" "$@"', 'systemd-socket-activate', ...listen, ...fdnames, ...set];
}

/** Connects when all sockets are open; that starts the daemon. */
async function connectWhenThere(t: TestContext, path: string, daemon: Served): Promise<RawPeer> {
  await daemon.said(`Listening on ${path} `);
  return connectPeer(t, path);
}
