import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { TestHome } from '../support/serve.ts';

const POLICY = 'roots: { a: { path: ~/a } }\nrules: [{ id: r, allow: [a] }]';

describe('the daemon whose socket files are cleaned away', () => {
  it('makes them again, and the sessions that are open stay', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    home.policy(POLICY);
    const daemon = await home.serve();
    const peer = await home.peer('s');
    rmSync(dirname(home.socket), { recursive: true });
    await daemon.logged('socket listening', 4);
    assert.equal((await home.run('status')).status, 0);
    const { result } = await peer.request('roots/list');
    assert.equal((result as { roots: unknown[] }).roots.length, 1);
    await home.peer('t');
  });

  it('ends where it cannot: exit 75', async (t) => {
    const home = new TestHome(t);
    const daemon = await home.serve();
    rmSync(home.socket);
    mkdirSync(home.socket);
    writeFileSync(`${home.socket}/file`, '');
    const { status } = await daemon.ended;
    assert.equal(status, 75);
    assert.equal(daemon.count('socket lost'), 1);
  });
});
