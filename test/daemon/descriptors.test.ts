// A daemon that may open few descriptors, and more peers than it has descriptors for.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StatusReply } from '../../src/daemon/control.ts';
import { connectPeer } from '../socket/raw-peer.ts';
import { TestHome } from '../support/serve.ts';

const FEW = { wrap: ['sh', '-c', 'ulimit -n 200; exec "$0" "$@"'] };
const TREE = ['dir home/a'];
const POLICY = 'roots: { a: { path: ~/a } }\nrules: [{ id: a, allow: [a], servers: [s] }]';
const SHORT = 'descriptors run out, new connections wait';
const ATTACH = { jsonrpc: '2.0', id: 1, method: 'rootsd/attach', params: { version: 1, server: 's' } };

describe('a daemon that runs out of descriptors', () => {
  it('lets new peers wait and loses none, says so once, and reads policies and answers administration meanwhile', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(POLICY);
    const daemon = await home.serveWith(FEW);
    const peers = await Promise.all(Array.from({ length: 300 }, () => connectPeer(t, home.socket)));
    const answered: typeof peers = [];
    let isOver = false;
    const all = peers.map(async (peer) => {
      peer.send(ATTACH);
      assert.equal((await peer.next()).error, undefined);
      if (isOver) peer.socket.destroy();
      else answered.push(peer);
    });
    await daemon.logged(SHORT);

    home.policy(POLICY.replace('id: a', 'id: b'));
    await daemon.logged('layer activated', 2);
    const { sessions } = await home.json<StatusReply>('status');
    assert.ok(sessions > 50 && sessions < 200, `${sessions} sessions`);
    for (const peer of answered) assert.equal((await peer.request('roots/list')).result.roots.length, 1);

    isOver = true;
    for (const peer of answered) peer.socket.destroy();
    await Promise.all(all);
    assert.equal(daemon.count(SHORT), 1);
    await daemon.logged('descriptors are free again');
  });

  it('lets go of connections that say nothing', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(POLICY);
    await home.serveWith(FEW);
    await Promise.all(Array.from({ length: 150 }, () => connectPeer(t, home.socket)));
    const peer = await home.peer('s');
    assert.equal((await peer.request('roots/list')).result.roots.length, 1);
  });
});
