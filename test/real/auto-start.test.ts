// `rootsd run` where no daemon is running, as a user of whom nothing is known but the uid and the home.
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { installProgram } from '../support/installed.ts';
import { needsRoot } from '../support/nobody.ts';
import { type Json, OBEDIENT_SERVER, RunHost } from '../support/run-host.ts';
import { temporaryDirectory } from '../support/tree.ts';

/** A uid without an account: its home is $HOME if it owns it. */
const UID = 54_321;

/** A user with a home, policies, the program and a server, and no daemon yet. */
class Newcomer {
  readonly base: string;
  readonly home: string;
  readonly program: string;
  readonly #t: TestContext;
  readonly #started = new Set<number>();

  constructor(t: TestContext) {
    this.#t = t;
    t.after(() => {
      for (const pid of this.#started) if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
    });
    this.base = temporaryDirectory(t);
    this.home = join(this.base, 'home');
    this.program = installProgram(join(this.base, 'program'));
    copyFileSync(OBEDIENT_SERVER, join(this.base, 'server.mjs'));
    for (const path of ['home', 'home/a', 'home/.config', 'home/.config/rootsd', 'home/.config/rootsd/policies.d']) {
      mkdirSync(join(this.base, path), { mode: 0o700 });
      chownSync(join(this.base, path), UID, UID);
    }
    mkdirSync(join(this.base, 'etc'));
    this.put('.config/rootsd/rootsd.yaml', `version: 1\nlayers: { system: ${this.base}/etc }\n`);
    const rule = 'rules: [{ id: a, allow: [a], servers: [o] }]';
    this.put('.config/rootsd/policies.d/a.yaml', `version: 1\nroots: { a: { path: ~/a } }\n${rule}\n`);
  }

  put(path: string, content: string): void {
    writeFileSync(join(this.home, path), content, { mode: 0o600 });
    chownSync(join(this.home, path), UID, UID);
  }

  run(env: Readonly<Record<string, string>> = {}, cwd = this.base): RunHost {
    const args = ['run', '--server', 'o', '--', process.execPath, join(this.base, 'server.mjs')];
    const { program, home } = this;
    return new RunHost(this.#t, { program, args, cwd, uid: UID, env: { HOME: home, ...env } });
  }

  /** Waits for a daemon after the one that was. */
  async anotherDaemon(before: number): Promise<number> {
    while (Number(readFileSync(join(this.home, '.local/state/rootsd/lock'), 'utf8') || before) === before)
      await new Promise((resolve) => setTimeout(resolve, 20));
    return this.daemonPid();
  }

  /** Waits until peers have attached so many times. */
  async attached(times: number): Promise<void> {
    const audit = join(this.home, '.local/state/rootsd/audit.jsonl');
    while (readFileSync(audit, 'utf8').split('"event":"peer attached"').length - 1 < times)
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** The daemon that has the state of this user; it is ended after the test. */
  daemonPid(): number {
    const pid = Number(readFileSync(join(this.home, '.local/state/rootsd/lock'), 'utf8'));
    assert.ok(pid > 0, 'a daemon holds the lock');
    this.#started.add(pid);
    return pid;
  }
}

async function roots(host: RunHost): Promise<readonly string[]> {
  const { result } = (await host.ask('roots')) as { result: { roots: { uri: string }[] } };
  return result.roots.map(({ uri }) => uri);
}

describe('rootsd run without a daemon', { skip: needsRoot }, () => {
  it('starts one, which outlives it and serves the next', async (t) => {
    const user = new Newcomer(t);
    const first = user.run();
    await first.initialize();
    const pid = user.daemonPid();
    assert.deepEqual(await roots(first), [`file://${user.home}/a`]);
    first.process.stdin?.end();
    assert.deepEqual(await first.ended, { status: 0, signal: null });
    const second = user.run();
    await second.initialize();
    assert.deepEqual(await roots(second), [`file://${user.home}/a`]);
    assert.equal(user.daemonPid(), pid);
  });

  it('gives it an environment of its own, the root directory and no descriptors', async (t) => {
    const user = new Newcomer(t);
    // What a repository's file could put into the environment of a server: other policies, other code.
    const evil = join(user.base, 'evil');
    mkdirSync(join(evil, 'rootsd/policies.d'), { recursive: true });
    for (const path of [evil, join(evil, 'rootsd'), join(evil, 'rootsd/policies.d')]) chownSync(path, UID, UID);
    const policy = `version: 1\nroots: { all: { path: ${user.base}/etc } }\nrules: [{ id: all, allow: [all] }]\n`;
    user.put('../evil/rootsd/policies.d/evil.yaml', policy);
    user.put('../evil/rootsd/rootsd.yaml', 'version: 1\n');
    const host = user.run({
      XDG_CONFIG_HOME: evil,
      XDG_STATE_HOME: evil,
      ROOTSD_CONFIG: join(evil, 'rootsd/rootsd.yaml'),
      CONFIGURATION_DIRECTORY: join(evil, 'rootsd'),
      STATE_DIRECTORY: evil,
      LD_LIBRARY_PATH: evil,
      SECRET: 'token',
    });
    await host.initialize();
    const pid = user.daemonPid();
    assert.deepEqual(await roots(host), [`file://${user.home}/a`]);
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((entry) => entry !== '');
    const names = environment.map((entry) => entry.slice(0, entry.indexOf('='))).sort();
    assert.deepEqual(names, ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'USER']);
    assert.equal(readlinkSync(`/proc/${pid}/cwd`), '/');
    for (const fd of [0, 1, 2]) assert.equal(readlinkSync(`/proc/${pid}/fd/${fd}`), '/dev/null');
    const [, session] = /\) \S \d+ \d+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    assert.equal(Number(session), pid, 'it leads a session of its own');
  });

  it('finds it by HOME and PATH alone, and takes "/" for no root', async (t) => {
    const user = new Newcomer(t);
    const first = user.run({}, '/');
    await first.initialize({ roots: {} });
    const pid = user.daemonPid();
    // The host, too, says that it means the whole disk: that narrows nothing and widens nothing.
    const asked = await first.next(({ method }) => method === 'roots/list');
    first.send({ id: asked.id, result: { roots: [{ uri: 'file:///' }] } });
    assert.deepEqual(await roots(first), [`file://${user.home}/a`]);
    const { env, cwd } = (await first.ask('environment')) as { env: Record<string, string>; cwd: string };
    assert.deepEqual([Object.keys(env).sort(), cwd], [['HOME', 'PATH'], '/']);
    const second = user.run({}, '/');
    await second.initialize();
    assert.deepEqual([await roots(second), user.daemonPid()], [[`file://${user.home}/a`], pid]);
  });

  it('starts one daemon where several runs begin at once, and all get their first roots', async (t) => {
    const user = new Newcomer(t);
    const hosts = Array.from({ length: 5 }, () => user.run());
    const answers = await Promise.all(
      hosts.map(async (host) => {
        await host.initialize();
        return roots(host);
      }),
    );
    user.daemonPid();
    assert.deepEqual(new Set(answers.flat()), new Set([`file://${user.home}/a`]));
  });

  it('starts another where it is killed in mid-session: one for all, who keep their list and hear of the next change', async (t) => {
    const user = new Newcomer(t);
    const hosts = Array.from({ length: 5 }, () => user.run());
    for (const host of hosts) {
      await host.initialize();
      await roots(host);
    }
    const first = user.daemonPid();
    process.kill(first, 'SIGKILL');
    const second = await user.anotherDaemon(first);
    assert.ok(second > 0);
    const rule = 'rules: [{ id: a, allow: [a, b], servers: [o] }]';
    mkdirSync(join(user.home, 'b'), { mode: 0o700 });
    chownSync(join(user.home, 'b'), UID, UID);
    for (const host of hosts) {
      assert.deepEqual(await roots(host), [`file://${user.home}/a`]);
      assert.equal(await host.ask('list-changed'), 0);
    }
    await user.attached(2 * hosts.length);
    user.put(
      '.config/rootsd/policies.d/a.yaml',
      `version: 1\nroots: { a: { path: ~/a }, b: { path: ~/b } }\n${rule}\n`,
    );
    for (const host of hosts) {
      while ((await host.ask('list-changed')) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(await host.ask('list-changed'), 1);
      assert.deepEqual(await roots(host), [`file://${user.home}/a`, `file://${user.home}/b`]);
    }
    assert.equal(user.daemonPid(), second);
  });

  for (const [what, breakIt, why] of [
    [
      'its configuration is broken',
      (user: Newcomer) => user.put('.config/rootsd/rootsd.yaml', 'version: 2\n'),
      /"version" is 2: it must be 1 \[CONFIG_INVALID\]/,
    ],
    ['it can keep no state', (user: Newcomer) => chmodSync(user.home, 0o500), /it cannot be made \(EACCES\)/],
    [
      'others may write its state',
      (user: Newcomer) => chmodSync(user.home, 0o777),
      /can be written by everyone.*chmod go-w/,
    ],
  ] as const) {
    it(`fails closed where none can be started, because ${what}: 69 and an error for the host`, async (t) => {
      const user = new Newcomer(t);
      breakIt(user);
      const host = user.run();
      host.send({ id: 1, method: 'initialize', params: { capabilities: {} } });
      assert.deepEqual(await host.ended, { status: 69, signal: null });
      const [{ id, error } = {}] = host.messages;
      const { message, data } = error as { readonly message: string; readonly data: Json };
      assert.deepEqual([host.messages.length, id, data.code], [1, 1, 'DAEMON_UNREACHABLE']);
      assert.match(message, /"rootsd serve" ended with status 78: .*Cannot/);
      assert.match(message, why);
      assert.match(host.stderr, why);
    });
  }
});
