import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { LaunchPlan } from '../../src/core/protocol.ts';
import type { ReloadReply } from '../../src/daemon/control.ts';
import { TestHome } from '../support/serve.ts';

const TREE = ['dir home/a', 'dir home/b'];
const policy = (entry: string): string =>
  `roots: { a: { path: ~/a }, b: { path: ~/b } }\nrules: [{ id: r, allow: [a, b] }]\nservers: { s: ${entry} }\n`;

describe('a view', () => {
  /** What is edited in a server's entry, and the part of the plan that says so. */
  const ROWS: readonly (readonly [edit: string, plan: Partial<LaunchPlan>])[] = [
    ['{ roots: off }', { roots: false }],
    ['{ roots: on, host-roots: ignore }', { roots: true, hostRoots: 'ignore' }],
    ['{ guard: strict }', { hostRoots: 'narrow', guard: 'strict' }],
  ];

  it('carries the plan: an edit of it reaches the sessions of that server, and no others', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(policy('{ roots: on }'));
    await home.serve();
    const [peer, other] = [await home.peer('s', { watch: true }), await home.peer('other', { watch: true })];
    for (const [edit, expected] of ROWS) {
      home.policy(policy(edit));
      const { params } = await peer.next();
      for (const [key, value] of Object.entries(expected)) assert.equal(params.plan[key], value, edit);
      assert.equal(params.roots.length, 2);
    }
    assert.equal((await other.request('rootsd/watch')).result.serial, 1);
    assert.deepEqual(other.unread, []);
  });

  it('counts up where the generation stays, and an acknowledgement of an older one is none of the newest', async (t) => {
    const home = new TestHome(t, TREE);
    home.policy(policy('{ roots: on }'));
    await home.serve();
    const peer = await home.peer('s');
    const { generation, serial } = (await peer.request('rootsd/watch')).result;
    assert.equal(serial, 1);
    rmSync(join(home.home, 'b'), { recursive: true });
    const { params } = await peer.next();
    assert.deepEqual([params.generation, params.serial], [generation, 2]);
    await peer.request('rootsd/ack', { generation, serial: 1 });
    const early = await home.json<ReloadReply>('reload', '--wait');
    assert.deepEqual(early.sessions, { acknowledged: 0, late: 1 });
    await peer.request('rootsd/ack', { generation, serial: 2 });
    const late = await home.json<ReloadReply>('reload', '--wait');
    assert.deepEqual(late.sessions, { acknowledged: 1, late: 0 });
  });
});
