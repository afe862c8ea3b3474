// The units of systemd/ under a real user manager: socket activation, reload, restart, and a watchdog that bites.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { attachMany, untilTold } from '../support/attached.ts';
import { needsMounts } from '../support/private-mounts.ts';
import { ROOTSD, TestHome } from '../support/serve.ts';

const UNITS = fileURLToPath(new URL('../../systemd/', import.meta.url));
const SCRIPT = fileURLToPath(new URL('../support/user-manager.sh', import.meta.url));
const POLICY = 'roots: { a: { path: ~/a } }\nrules: [{ id: all, allow: [a] }]\n';

function needsManager(): string | false {
  if (!existsSync('/lib/systemd/systemd')) return 'needs systemd';
  const tried = spawnSync('sh', [
    '-c',
    'd=/sys/fs/cgroup/systemd; [ -d $d ] || d=/sys/fs/cgroup; mkdir $d/rootsd-try && rmdir $d/rootsd-try',
  ]);
  return tried.status === 0 ? needsMounts() : 'needs control groups in which it may make its own';
}

class UserManager {
  readonly home: TestHome;
  readonly socket: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(t: TestContext) {
    this.home = new TestHome(t, ['dir home/a']);
    const { base, home } = this.home;
    this.socket = join(base, 'runtime/rootsd/rootsd.sock');
    const units = join(home, '.config/systemd/user');
    mkdirSync(join(units, 'rootsd.service.d'), { recursive: true });
    const service = readFileSync(join(UNITS, 'rootsd.service'), 'utf8');
    writeFileSync(join(units, 'rootsd.service'), service.replaceAll('=rootsd ', `=${process.execPath} ${ROOTSD} `));
    copyFileSync(join(UNITS, 'rootsd.socket'), join(units, 'rootsd.socket'));
    writeFileSync(join(units, 'rootsd.service.d/quick.conf'), '[Service]\nWatchdogSec=2s\nRestartSec=100ms\n');
    this.#env = { PATH: process.env.PATH ?? '', HOME: home, XDG_RUNTIME_DIR: join(base, 'runtime') };
    const manager = spawn('unshare', ['-m', 'sh', SCRIPT, base], { stdio: ['pipe', 'ignore', 'inherit'] });
    const ended = new Promise((resolve) => manager.on('close', resolve));
    t.after(() => {
      manager.stdin?.end();
      return ended;
    });
  }

  async ready(): Promise<void> {
    while (!existsSync(join(this.home.base, 'runtime/systemd/private'))) await pause();
  }

  systemctl(...args: readonly string[]): string {
    return execFileSync('systemctl', ['--user', ...args], { env: this.#env, encoding: 'utf8', stdio: 'pipe' }).trim();
  }

  show(property: string): string {
    return this.systemctl('show', 'rootsd.service', '-p', property, '--value');
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

describe('a user manager of systemd', { skip: needsManager() }, () => {
  it('finds nothing wrong with the units', (t) => {
    const { base } = new TestHome(t, ['dir units', 'dir runtime']);
    for (const name of ['rootsd.service', 'rootsd.socket']) {
      const text = readFileSync(join(UNITS, name), 'utf8').replaceAll('=rootsd ', `=${ROOTSD} `);
      writeFileSync(join(base, 'units', name), text);
    }
    const files = ['rootsd.service', 'rootsd.socket'].map((name) => join(base, 'units', name));
    const env = { PATH: process.env.PATH, HOME: base, XDG_RUNTIME_DIR: join(base, 'runtime') };
    const { status, stderr } = spawnSync('systemd-analyze', ['--user', 'verify', ...files], { env, encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
  });

  it('starts the daemon by its socket, reloads and restarts it under live sessions, and ends it where it is stuck', async (t) => {
    const manager = new UserManager(t);
    manager.home.policy(POLICY);
    await manager.ready();
    manager.systemctl('start', 'rootsd.socket');
    const sessions = await attachMany(t, manager.socket, 10);
    assert.equal(manager.show('ActiveState'), 'active');
    assert.match(manager.show('StatusText'), /^Generation [0-9a-f]{16} is in force$/);
    manager.systemctl('reload', 'rootsd.service');

    manager.systemctl('restart', 'rootsd.service');
    await untilTold(sessions);
    assert.deepEqual(
      sessions.map(({ told }) => told),
      sessions.map(() => [['a']]),
    );

    const pid = Number(manager.show('MainPID'));
    process.kill(pid, 'SIGSTOP');
    await untilTold(sessions, 2);
    assert.notEqual(Number(manager.show('MainPID')), pid);
    assert.equal(manager.show('NRestarts'), '1');

    manager.home.policy('rules: [');
    assert.throws(() => manager.systemctl('reload', 'rootsd.service'));
    assert.match(manager.show('StatusText'), /^degraded: /);
    manager.systemctl('stop', 'rootsd.service', 'rootsd.socket');
  });
});
