import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { ReloadReply } from '../../src/daemon/control.ts';
import { TestHome } from '../support/serve.ts';

const allow = (name: string): string =>
  `roots: { ${name}: { path: ~/${name} } }\nrules: [{ id: r, allow: [${name}] }]\n`;
const TREE = ['dir home/a', 'dir home/b'];

describe('rootsd reload', () => {
  it('says which generation holds and whether it is another one', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(allow('a'));
    await home.serve();
    const before = await home.json<ReloadReply>('reload');
    assert.deepEqual(Object.keys(before), ['generation', 'changed', 'sessions', 'problems', 'status']);
    assert.deepEqual([before.changed, before.status], [false, 0]);
    assert.equal((await home.command('reload')).out, `Generation ${before.generation}, as before\n`);
    home.policy(allow('b'));
    const after = await home.json<ReloadReply>('reload');
    assert.deepEqual([after.changed, after.status], [true, 0]);
    assert.notEqual(after.generation, before.generation);
  });

  it('waits until every session that watches has acknowledged', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(allow('a'));
    await home.serve();
    const peers = [await home.peer('one', { watch: true }), await home.peer('two', { watch: true })];
    await home.peer('three');
    home.policy(allow('b'));
    const reloading = home.json<ReloadReply>('reload', '--wait');
    for (const peer of peers) {
      const { method, params } = await peer.next();
      assert.equal(method, 'rootsd/view');
      peer.notify('rootsd/ack', { generation: params.generation });
    }
    const { sessions, status } = await reloading;
    assert.deepEqual([sessions, status], [{ acknowledged: 2, late: 0 }, 0]);
    const again = await home.json<ReloadReply>('reload', '--wait');
    assert.deepEqual([again.sessions, again.changed], [{ acknowledged: 2, late: 0 }, false]);
  });

  it('does not wait for ever: who has not acknowledged after 2 s is late, and the status stays 0', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(allow('a'));
    await home.serve();
    const quick = await home.peer('quick', { watch: true });
    await home.peer('slow', { watch: true });
    home.policy(allow('b'));
    const reloading = home.json<ReloadReply>('reload', '--wait');
    const { params } = await quick.next();
    quick.notify('rootsd/ack', { generation: params.generation });
    const { sessions, status } = await reloading;
    assert.deepEqual([sessions, status], [{ acknowledged: 1, late: 1 }, 0]);
  });

  it('does not wait for a session that closes, nor for an acknowledgement of another generation', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(allow('a'));
    await home.serve();
    const leaving = await home.peer('leaving', { watch: true });
    const confused = await home.peer('confused', { watch: true });
    home.policy(allow('b'));
    const reloading = home.json<ReloadReply>('reload', '--wait');
    await leaving.next();
    leaving.socket.destroy();
    await confused.next();
    confused.notify('rootsd/ack', { generation: '0123456789abcdef' });
    const { sessions } = await reloading;
    assert.deepEqual(sessions, { acknowledged: 0, late: 1 });
  });

  it('ends with 1 where a policy is refused, and prints file, line, column and cause', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(allow('a'));
    await home.serve();
    const path = home.policy(`${allow('a')}rulse: []`);
    const { status, out } = await home.command('reload');
    assert.equal(status, 1);
    assert.ok(out.includes(`${path}:4:1: error: Key "rulse" is not known [SCHEMA_UNKNOWN_KEY]\n`), out);
    const reply = await home.json<ReloadReply>('reload');
    assert.deepEqual([reply.status, reply.changed, reply.problems.length], [1, false, 1]);
  });

  it('ends with 0 where there are warnings only', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(allow('a'));
    await home.serve();
    home.policy(`${allow('a')}servers: { git: { socket: git } }\n`);
    const { status, problems } = await home.json<ReloadReply>('reload');
    assert.deepEqual([status, problems.map(({ severity }) => severity)], [0, ['warning']]);
  });

  it('lets policies that are gone go with --accept-empty alone', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(allow('a'));
    await home.serve();
    const peer = await home.peer('s', { watch: true });
    renameSync(home.directory('user'), `${home.directory('user')}.away`);
    assert.equal((await home.json<ReloadReply>('reload')).status, 1);
    assert.deepEqual((await peer.request('roots/list')).result.roots.length, 1);
    assert.equal((await home.json<ReloadReply>('reload', '--accept-empty')).status, 0);
    assert.deepEqual((await peer.next()).params.roots, []);
  });
});
