// A daemon that is replaced by another while sessions live: an upgrade, a crash.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { attachMany, untilTold } from '../support/attached.ts';
import { type Json, OBEDIENT_SERVER, RunHost } from '../support/run-host.ts';
import { ROOTSD, TestHome } from '../support/serve.ts';

const ALL = 'roots: { a: { path: ~/a }, b: { path: ~/b } }\nrules: [{ id: all, allow: [a] }]\n';
/** s0, s1 and s2 may have b too. */
const MORE = ALL.replace('rules: [', 'rules: [{ id: more, allow: [b], servers: [s0, s1, s2] }, ');
const TREE = ['dir home/a', 'dir home/b'];

async function namesOf(host: RunHost): Promise<readonly string[]> {
  const { result } = (await host.ask('roots')) as { result: { roots: { name: string }[] } };
  return result.roots.map(({ name }) => name);
}

describe('fifty sessions', () => {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`outlive a daemon that ends by ${signal} and another that takes its place: none is lost, each is told once`, async (t) => {
      const home = new TestHome(t, TREE);
      home.policy(ALL);
      const first = await home.serve();
      const sessions = await attachMany(t, home.socket, 50);
      await first.kill(signal);
      home.policy(MORE);
      const second = await home.serve();
      await untilTold(sessions);
      await second.logged('peer attached', 50);
      for (const [i, { attachment, told }] of sessions.entries()) {
        assert.equal(attachment.connected, true);
        assert.deepEqual(told, [i < 3 ? ['a', 'b'] : ['a']], `session ${i}`);
      }
      assert.equal(second.count('peer attached'), 50);
    });
  }
});

describe('rootsd run', () => {
  it('tells its server of another daemon only where the list is another one', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(ALL);
    const first = await home.serve();
    const hosts: RunHost[] = [];
    for (let i = 0; i < 4; i += 1) {
      const args = ['run', '--socket', home.socket, '--server', `s${i + 2}`, '--', process.execPath, OBEDIENT_SERVER];
      const host = new RunHost(t, { program: ROOTSD, args, env: { HOME: home.home } });
      await host.initialize();
      assert.deepEqual(await namesOf(host), ['a']);
      hosts.push(host);
    }
    await first.kill('SIGTERM');
    home.policy(MORE);
    const second = await home.serve();
    await second.logged('peer attached', hosts.length);
    while ((await hosts[0]?.ask('list-changed')) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const status = await home.json<Json>('reload', '--wait');
    assert.deepEqual(status.sessions, { acknowledged: hosts.length, late: 0 });
    const changes = await Promise.all(hosts.map((host) => host.ask('list-changed')));
    assert.deepEqual(changes, [1, 0, 0, 0]);
    assert.deepEqual(await Promise.all(hosts.map(namesOf)), [['a', 'b'], ['a'], ['a'], ['a']]);
  });
});

describe('a daemon that was stopped for a while', () => {
  it('finds what it missed, tells its sessions, and keeps them', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(ALL);
    const daemon = await home.serve();
    const sessions = await attachMany(t, home.socket, 3);
    daemon.process.kill('SIGSTOP');
    home.policy(MORE);
    home.remove(join(home.home, 'a'));
    writeFileSync(join(home.home, 'a'), 'no directory any more');
    daemon.process.kill('SIGCONT');
    while (sessions.some(({ told }) => told.at(-1)?.join() !== 'b'))
      await new Promise((resolve) => setTimeout(resolve, 10));
    assert.ok(sessions.every(({ attachment }) => attachment.connected));
    assert.equal(daemon.count('peer detached'), 0);
  });
});
