// Programs that ask, with a real daemon: what rootsd.yaml names is what a person is asked by.
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { ASKS, list, listed, onlyQuestion } from '../support/asking-home.ts';
import { argumentsOf, standIn } from '../support/asking-program.ts';
import { TestHome } from '../support/serve.ts';

const TREE = ['dir home/a', 'dir home/b'];

function asking(t: TestContext, consent: string): TestHome {
  const home = new TestHome(t, TREE);
  home.configure(`consent: { timeout: 1h, ${consent} }\n`);
  home.policy(ASKS);
  return home;
}

describe('a daemon', () => {
  it('asks by the askpass of rootsd.yaml: its yes is told at once', async (t) => {
    const home = asking(t, 'channels: [host], askpass: ~/ask');
    const path = standIn(join(home.home, 'ask'), 'exit 0');
    await home.serve();
    const peer = await home.peer('fs', { watch: true });
    await listed(peer);
    const { params } = await peer.next();
    assert.equal(params.view[0].kind, 'consent');
    const { history } = await list(home);
    assert.deepEqual([history[0]?.channel, history[0]?.scope], ['askpass', 'session']);
    assert.ok(argumentsOf(path)?.[0]?.includes(`path: ${join(home.home, 'a')}`));
  });

  it('does not run an askpass that others can write, says so, and the question can be answered otherwise', async (t) => {
    const home = asking(t, 'channels: [host], askpass: ~/ask');
    const path = standIn(join(home.home, 'ask'), 'exit 0');
    chmodSync(path, 0o777);
    const daemon = await home.serve();
    await listed(await home.peer('fs'));
    await daemon.logged('consent question not shown');
    assert.equal(argumentsOf(path), null);
    const { id } = await onlyQuestion(home);
    assert.equal((await home.command('consent', 'deny', id)).status, 0);
  });

  it('asks on the desktop where there is one and rootsd.yaml wants it', async (t) => {
    const home = asking(t, 'channels: [desktop]');
    const path = standIn(join(home.base, 'bin/notify-send'), 'echo yes-1');
    const env = { PATH: `${join(path, '..')}:${process.env.PATH}`, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' };
    const daemon = await home.serveWith({ env });
    await listed(await home.peer('fs'));
    await daemon.logged('consent answered');
    const { history } = await list(home);
    assert.deepEqual([history[0]?.channel, history[0]?.scope], ['desktop', '8h']);
  });
});
