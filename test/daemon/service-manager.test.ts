import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { openNative } from '../../src/disk/native.ts';
import { connectPeer } from '../socket/raw-peer.ts';
import { type Served, TestHome } from '../support/serve.ts';

const needsPython = existsSync('/usr/bin/python3') ? false : 'needs python3';
const needsSender =
  (await openNative()) !== null || existsSync('/usr/bin/systemd-notify') ? false : 'needs koffi or systemd-notify';

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

async function serveUnder(t: TestContext, home: TestHome): Promise<{ manager: Manager; daemon: Served }> {
  const manager = new Manager(t, home.base);
  await manager.next();
  const daemon = await home.serveWith({ env: { NOTIFY_SOCKET: manager.address } });
  return { manager, daemon };
}

describe('the service manager', { skip: needsPython || needsSender }, () => {
  it('is told of the start, of each reload, also of one that fails, and of the end', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    home.policy(POLICY);
    const { manager, daemon } = await serveUnder(t, home);
    const [ready, inForce = ''] = await manager.next();
    assert.equal(ready, 'READY=1');
    assert.match(inForce, /^STATUS=Generation [0-9a-f]{16} is in force$/);

    for (const [text, status] of [
      ['rules: [', /^STATUS=degraded: .*test\.yaml:\d+:\d+: error: /],
      [POLICY, /^STATUS=Generation /],
    ] as const) {
      home.policy(text);
      const [reloading, monotonic = ''] = await manager.next();
      assert.equal(reloading, 'RELOADING=1');
      assert.match(monotonic, /^MONOTONIC_USEC=\d+$/);
      const [again, said = ''] = await manager.next();
      assert.equal(again, 'READY=1');
      assert.match(said, status);
    }

    await daemon.kill('SIGTERM');
    assert.deepEqual(await manager.next(), ['STOPPING=1']);
  });
});

/** Listens at the first argument and becomes the rest of the command line, as a service manager would start it. */
const ACTIVATE = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
s.bind(sys.argv[1])
s.listen(16)
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="peers")
os.execvp(sys.argv[2], sys.argv[2:])`;

describe('a socket that the service manager has opened', { skip: needsPython }, () => {
  it('is served, and its file is there after the end', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    home.policy(POLICY);
    mkdirSync(dirname(home.socket), { mode: 0o700 });
    const daemon = await home.serveWith({ wrap: ['python3', '-c', ACTIVATE, home.socket] });
    const peer = await connectPeer(t, home.socket);
    const { result } = await peer.request('rootsd/attach', { version: 1, server: 's' });
    assert.equal((result as { roots: unknown[] }).roots.length, 1);
    assert.equal((await home.command('status')).status, 0);
    await daemon.kill('SIGTERM');
    await peer.closed;
    assert.ok(existsSync(home.socket));
    assert.equal(existsSync(join(dirname(home.socket), 'control.sock')), false);
  });
});
