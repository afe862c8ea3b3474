import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { SessionsReply, StatusReply } from '../../src/daemon/control.ts';
import { TestHome } from '../support/serve.ts';

const ALLOW_A = 'roots: { a: { path: ~/a } }\nrules: [{ id: allow-a, allow: [a] }]\n';
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('rootsd status', () => {
  it('says how the daemon is, and of each layer what is in force', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    const file = home.policy(ALLOW_A);
    await home.serve();
    await home.peer('s');
    const { status, ...reply } = await home.json<StatusReply>('status');
    assert.equal(status, 0);
    const { since, version, generation, layers } = reply;
    const [system, user] = layers;
    assert.deepEqual(reply, { version, generation, state: 'ok', problems: [], sessions: 1, roots: 1, since, layers });
    assert.match(generation, /^[0-9a-f]{16}$/);
    assert.match(since, RFC_3339);
    assert.match(user?.since ?? '', RFC_3339);
    const directories = [home.directory('system'), home.directory('user')];
    assert.deepEqual([system?.layer, system?.state, system?.directory], ['system', 'empty', directories[0]]);
    assert.deepEqual([user?.state, user?.directory, user?.files], ['active', directories[1], [file]]);
    const { out } = await home.command('status');
    assert.match(out, /^state +ok$/m);
    assert.ok(out.includes(`user layer    active, ${file}\n`), out);
    assert.ok(out.includes(`system layer  empty, no files in ${directories[0]}\n`), out);
  });

  it('ends with 0 where the daemon is degraded, and says why', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    home.policy(ALLOW_A);
    const daemon = await home.serve();
    const file = home.policy(`${ALLOW_A}rulse: []`);
    await daemon.logged('layer rejected');
    const { state, status, problems } = await home.json<StatusReply>('status');
    assert.deepEqual([state, status], ['degraded', 0]);
    assert.deepEqual([problems[0]?.code, problems[0]?.file, problems[0]?.line], ['SCHEMA_UNKNOWN_KEY', file, 4]);
    const { out } = await home.command('status');
    assert.match(out, /^state +degraded$/m);
    assert.ok(out.includes(`${file}:4:1: error: Key "rulse" is not known [SCHEMA_UNKNOWN_KEY]\n`), out);
  });

  it('says in lockdown that nothing of the directory is in force', async (t) => {
    const home = new TestHome(t);
    home.policy('rulse: []');
    await home.serve();
    const { out, status } = await home.command('status');
    assert.equal(status, 0);
    assert.ok(out.includes(`user layer    lockdown, nothing of ${home.directory('user')} is in force\n`), out);
  });

  it('prints the state again at every change with --watch', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    home.policy(ALLOW_A);
    const daemon = await home.serve();
    const child = home.start(['status', '--watch']);
    t.after(() => child.kill('SIGKILL'));
    const states: string[] = [];
    const changed = new Promise<void>((resolve) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        for (const [, state = ''] of `${chunk}`.matchAll(/^state +(\w+)$/gm)) states.push(state);
        if (states.length === 1) home.policy('rules: [');
        if (states.at(-1) === 'degraded') resolve();
      });
    });
    await daemon.logged('layer rejected');
    await changed;
    assert.deepEqual([...new Set(states)], ['ok', 'degraded']);
  });
});

describe('rootsd sessions', () => {
  it('lists the live sessions in the order in which they attached', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    home.policy('roots: { a: { path: ~/a } }\nrules: [{ id: allow-a, allow: [a], servers: [one] }]\n');
    await home.serve();
    assert.equal((await home.command('sessions')).out, 'No sessions\n');
    await home.peer('one');
    const two = await home.peer('two');
    const { status, sessions } = await home.json<SessionsReply>('sessions');
    assert.equal(status, 0);
    assert.deepEqual(
      sessions.map(({ server, roots }) => [server, roots]),
      [
        ['one', 1],
        ['two', 0],
      ],
    );
    const { id = '', since = '', ...rest } = sessions[0] ?? {};
    assert.match(id, /^[0-9a-f]{16}$/);
    assert.match(since, RFC_3339);
    const uid = process.getuid?.();
    assert.deepEqual(rest, {
      server: 'one',
      class: 'claimed',
      host: null,
      uid,
      pid: process.pid,
      era: 'legacy',
      roots: 1,
      channels: ['roots'],
      askedForRoots: null,
    });
    const { out } = await home.command('sessions');
    assert.match(out, /^SESSION +SERVER +CLASS +HOST +UID +PID +SINCE +ERA +CHANNEL +ASKED +ROOTS$/m);
    assert.match(
      out,
      new RegExp(`^${id} +one +claimed +- +${uid} +${process.pid} +${since} +legacy +roots +- +1$`, 'm'),
    );

    two.socket.end();
    await two.closed;
    assert.equal((await home.json<SessionsReply>('sessions')).sessions.length, 1);
  });
});

describe('commands that need the daemon', () => {
  for (const command of ['status', 'sessions', 'reload']) {
    it(`"${command}" ends with 69 where there is none, and says where it looked`, async (t) => {
      const home = new TestHome(t);
      const { status, out, err } = await home.command(command, '--json');
      assert.deepEqual([status, out], [69, '']);
      assert.ok(err.includes(`Cannot reach the daemon: "${home.socket}": there is none`), err);
      assert.ok(err.includes('rootsd serve'), err);
    });
  }

  it('end with 69 where a dead daemon has left its socket', async (t) => {
    const home = new TestHome(t);
    await (await home.serve()).kill('SIGKILL');
    const { status, err } = await home.command('status');
    assert.equal(status, 69);
    assert.ok(err.includes(`"${join(home.base, 'run/control.sock')}": ECONNREFUSED`), err);
  });
});
