// A daemon whose disk is full or read-only, or whose clock is set.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { attachMany } from '../support/attached.ts';
import { needsMounts } from '../support/private-mounts.ts';
import { type Served, TestHome } from '../support/serve.ts';
import { auditFiles, verifyAudit } from '../support/verify-audit.ts';

const TREE = ['dir home/a', 'dir home/b'];
const ALLOW = (name: string): string =>
  `roots: { ${name}: { path: ~/${name} } }\nrules: [{ id: r, allow: [${name}] }]\n`;
/** A small disk of its own for the state, filled to the last block where `$1` says so. */
const SMALL_DISK = `mount -t tmpfs -o size=64k,mode=700 none "$0" || exit 99
[ "$1" = full ] && head -c 1000000 /dev/zero >"$0/filler" 2>/dev/null
shift; exec "$@"`;

class SmallDisk {
  readonly home: TestHome;
  readonly #state: string;

  constructor(t: TestContext) {
    this.home = new TestHome(t, TREE);
    this.#state = join(this.home.home, '.local/state/rootsd');
    mkdirSync(this.#state, { recursive: true, mode: 0o700 });
  }

  serve(how: 'full' | 'empty'): Promise<Served> {
    return this.home.serveWith({ wrap: ['unshare', '-m', 'sh', '-c', SMALL_DISK, this.#state, how] });
  }

  /** A file of the state, as the daemon sees it. */
  path(daemon: Served, file: string): string {
    return `/proc/${daemon.pid}/root${join(this.#state, file)}`;
  }

  /** What has no file open for writing can be made read-only, and so that directory alone. */
  remount(daemon: Served, how: 'ro' | 'rw'): void {
    const script =
      how === 'ro' ? 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"' : 'mount -o remount,bind,rw "$0"';
    const directory = join(this.#state, 'last-good');
    execFileSync('nsenter', ['-m', '-t', String(daemon.pid), 'sh', '-c', script, directory]);
  }
}

describe('a daemon', { skip: needsMounts() }, () => {
  it('serves on a full disk, says what it cannot write, and writes it when there is room', async (t) => {
    const disk = new SmallDisk(t);
    const { home } = disk;
    home.policy(ALLOW('a'));
    const daemon = await disk.serve('full');
    assert.equal(daemon.count('daemon started'), 1);
    const [session] = await attachMany(t, home.socket, 1);
    home.policy(ALLOW('b'));
    while (session?.told.at(-1)?.join() !== 'b') await new Promise((resolve) => setTimeout(resolve, 10));
    for (const event of ['audit line lost', 'last good state not kept', 'endpoint file not written']) {
      assert.equal(daemon.count(event), 1, event);
    }
    rmSync(disk.path(daemon, 'filler'));
    await daemon.logged('state file written again', 2);
    assert.equal(readFileSync(disk.path(daemon, 'endpoint'), 'utf8'), `${home.socket}\n`);
    assert.ok(readFileSync(disk.path(daemon, 'last-good/user.json'), 'utf8').includes('allow: [b]'));
    await home.peer('t');
    await daemon.logged('audit goes on');
    const verdict = verifyAudit(auditFiles(disk.path(daemon, 'audit.jsonl'), 5));
    assert.equal(verdict.ok, true, JSON.stringify(verdict));
    assert.equal(daemon.count('bug'), 0);
  });

  it('serves on where it can keep its last good state no more, and keeps it again when it can', async (t) => {
    const disk = new SmallDisk(t);
    const { home } = disk;
    home.policy(ALLOW('a'));
    const daemon = await disk.serve('empty');
    const [session] = await attachMany(t, home.socket, 1);
    disk.remount(daemon, 'ro');
    home.policy(ALLOW('b'));
    while (session?.told.at(-1)?.join() !== 'b') await new Promise((resolve) => setTimeout(resolve, 10));
    await daemon.logged('last good state not kept');
    disk.remount(daemon, 'rw');
    await daemon.logged('state file written again');
    assert.equal(daemon.count('last good state not kept'), 1);
    assert.ok(readFileSync(disk.path(daemon, 'last-good/user.json'), 'utf8').includes('allow: [b]'));
    assert.equal((await daemon.kill('SIGTERM')).status, 0);
  });

  for (const [what, script] of [
    ['an empty one', 'mount -t tmpfs -o ro,mode=700 none "$0"'],
    ['one that it has used before', 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"'],
  ] as const) {
    it(`does not start where its state directory is read-only, ${what}: 78, for nothing could be taken back there`, async (t) => {
      const disk = new SmallDisk(t);
      disk.home.policy(ALLOW('a'));
      const state = join(disk.home.home, '.local/state/rootsd');
      await (await disk.home.serve()).kill('SIGTERM');
      const daemon = await disk.home.serveWith({
        wrap: ['unshare', '-m', 'sh', '-c', `${script} && exec "$@"`, state],
      });
      const { status, err } = await daemon.ended;
      assert.equal(status, 78);
      assert.match(
        err,
        /Cannot use directory ".*rootsd": its file "lock" cannot be opened \(EROFS\) \[DIRECTORY_UNSAFE\]\n.*Mount its file system writable/,
      );
      assert.equal(existsSync(disk.home.socket), false);
    });
  }
});

describe('a daemon whose disk', { concurrency: true }, () => {
  for (const [what, code] of [
    ['breaks', 'EIO'],
    ['is made read-only under its open files', 'EROFS'],
  ] as const) {
    it(`${what} serves on, says what it cannot write, and writes it when it can`, async (t) => {
      const home = new TestHome(t, TREE);
      home.policy(ALLOW('a'));
      const state = join(home.home, '.local/state/rootsd');
      const preload = fileURLToPath(new URL('../support/fails-on-disk.mjs', import.meta.url));
      const env = { NODE_OPTIONS: `--import=${preload}`, FAIL_BELOW: state, FAIL_WITH: code };
      const daemon = await home.serveWith({ env });
      const [session] = await attachMany(t, home.socket, 1);
      daemon.process.kill('SIGUSR2');
      home.policy(ALLOW('b'));
      while (session?.told.at(-1)?.join() !== 'b') await new Promise((resolve) => setTimeout(resolve, 10));
      await daemon.logged('last good state not kept');
      const status = await home.run('status', '--format', 'json');
      const { state: condition, problems } = JSON.parse(status.out);
      assert.deepEqual(
        [condition, problems.map(({ code }: { readonly code: string }) => code)],
        ['ok', ['STATE_UNWRITABLE']],
      );
      const { error } = await daemon.logged('audit line lost');
      assert.equal((error as { code: string }).code, code);
      await home.peer('t');
      daemon.process.kill('SIGUSR2');
      await daemon.logged('state file written again');
      assert.ok(readFileSync(join(state, 'last-good/user.json'), 'utf8').includes('allow: [b]'));
      await home.peer('u');
      const { lines } = await daemon.logged('audit goes on');
      assert.ok(Number(lines) >= 3, `${lines} lines`);
      assert.deepEqual([daemon.count('audit line lost'), daemon.count('bug')], [1, 0]);
      const verdict = verifyAudit(auditFiles(join(state, 'audit.jsonl'), 5));
      assert.equal(verdict.ok, true, JSON.stringify(verdict));
      assert.equal((await daemon.kill('SIGTERM')).status, 0);
    });
  }
});

describe('a daemon whose clock is set back and forward by years', () => {
  it('keeps its sessions, is not idle before its time, and hears of every change', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(ALLOW('a'));
    const preload = fileURLToPath(new URL('../support/shifted-clock.mjs', import.meta.url));
    const daemon = await home.serveWith({ env: { NODE_OPTIONS: `--import=${preload}` } }, '--idle-exit', '1h');
    const [session] = await attachMany(t, home.socket, 1);
    for (const name of ['b', 'a', 'b', 'a']) {
      daemon.process.kill('SIGUSR2');
      home.policy(ALLOW(name));
      while (session?.told.at(-1)?.join() !== name) await new Promise((resolve) => setTimeout(resolve, 10));
      assert.equal((await home.command('reload', '--wait')).status, 0);
    }
    assert.equal(session?.attachment.connected, true);
    session?.attachment.close();
    await daemon.logged('peer detached');
    daemon.process.kill('SIGUSR2');
    await home.peer('t');
    assert.equal((await daemon.kill('SIGTERM')).status, 0);
    const times = readFileSync(join(home.home, '.local/state/rootsd/audit.jsonl'), 'utf8').match(/"time":"\d{4}/g);
    assert.ok(new Set(times).size >= 3, 'the clock was set');
  });
});
