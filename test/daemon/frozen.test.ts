import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReloadReply, SessionsReply, StatusReply } from '../../src/daemon/control.ts';
import { TestHome } from '../support/serve.ts';

const POLICY = 'roots: { a: { path: ~/a } }\nrules: [{ id: a, allow: [a], servers: [s] }]';

describe('a peer that is frozen', () => {
  it('is listed, holds up nobody, and is not waited for longer than two seconds', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    home.policy(POLICY);
    const daemon = await home.serve();
    const frozen = await home.peer('s', { watch: true });
    frozen.socket.pause();
    const live = await home.peer('s', { watch: true });
    home.policy('roots: { a: { path: ~/a } }');
    const { generation } = (await live.next()).params;
    live.notify('rootsd/ack', { generation });
    const { sessions } = await home.json<ReloadReply>('reload', '--wait');
    assert.deepEqual(sessions, { acknowledged: 1, late: 1 });
    assert.equal((await home.json<StatusReply>('status')).sessions, 2);
    assert.equal((await home.json<SessionsReply>('sessions')).sessions.length, 2);
    assert.deepEqual((await (await home.peer('s')).request('roots/list')).result.roots, []);
    assert.equal(daemon.count('peer detached'), 0);
  });
});
