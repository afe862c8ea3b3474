// What peers say of their sessions: shown, logged, audited, and nothing is decided by it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { SessionsReply } from '../../src/daemon/control.ts';
import { TestHome } from '../support/serve.ts';

const CALL = {
  method: 'tools/call',
  tool: 'read_file',
  path: '/etc/\u001b[31mpasswd',
  access: 'read-only',
  reason: 'outside',
  left: 0,
};

describe('the daemon hears of a session', () => {
  it('how it goes, and sessions shows it', async (t) => {
    const home = new TestHome(t);
    home.policy('servers: { off: { roots: off } }');
    const daemon = await home.serve();
    const [told, plain] = [await home.peer('s', { watch: true }), await home.peer('t')];
    await home.peer('off');
    const rows = async () => {
      const { sessions } = await home.json<SessionsReply>('sessions');
      return sessions.map(({ server, era, channels, askedForRoots }) => [server, era, channels, askedForRoots]);
    };
    const off = ['off', 'legacy', [], null];
    assert.deepEqual(await rows(), [['s', 'legacy', ['roots'], null], ['t', 'legacy', ['roots'], null], off]);
    await plain.request('roots/list');
    assert.deepEqual(
      (await told.request('rootsd/report', { era: 'modern', channels: ['env', 'argv'], askedForRoots: false })).result,
      {},
    );
    assert.deepEqual(await rows(), [['s', 'modern', ['env', 'argv'], false], ['t', 'legacy', ['roots'], true], off]);
    const { out } = await home.command('sessions');
    assert.match(
      out,
      /^SESSION .* ERA +CHANNEL +ASKED +ROOTS\n.* modern +env\+argv +no +0\n.* legacy +roots +yes +0\n/,
    );
    assert.match(out, /\nASKED no \(1\): the server has not asked for its roots/);
    await daemon.logged('server has not asked for its roots');
    const wrong = await told.request('rootsd/report', { era: 'x', channels: [], askedForRoots: true });
    assert.match(wrong.error?.message ?? '', /"era" must be/);
  });

  it('of a refused call: logged and audited as claimed, with nothing hidden in it, and of many only so many', async (t) => {
    const home = new TestHome(t);
    const daemon = await home.serve();
    const peer = await home.peer('s', { watch: true });
    peer.notify('rootsd/refused', { ...CALL, path: 7 });
    peer.notify('rootsd/refused', { ...CALL, path: null, access: 'read-write', reason: 'nothing-writable' });
    peer.notify('rootsd/refused', { ...CALL, path: '\u202e'.repeat(1_000) });
    for (let i = 0; i < 30; i += 1) peer.notify('rootsd/refused', CALL);
    await peer.request('roots/list');
    await daemon.logged('call refused', 20);
    await daemon.kill('SIGTERM');
    const audit = readFileSync(`${home.home}/.local/state/rootsd/audit.jsonl`, 'utf8').trim().split('\n');
    const refused = audit.map((line) => JSON.parse(line)).filter(({ event }) => event === 'call refused');
    assert.equal(refused.length, 20);
    const { left, ...claimed } = CALL;
    assert.deepEqual([refused[0].claimed.path, refused[0].claimed.reason], [null, 'nothing-writable']);
    assert.deepEqual(refused[1].claimed, { ...claimed, path: '/etc/\\x1b[31mpasswd' });
    assert.deepEqual([refused[1].peer.server, refused[1].left], ['s', left]);
  });
});
