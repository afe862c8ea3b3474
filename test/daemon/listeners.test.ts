import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { ShownConsent } from '../../src/daemon/consent-rows.ts';
import { connectPeer } from '../socket/raw-peer.ts';
import { list, listed, onlyQuestion, PATIENT } from '../support/asking-home.ts';
import { TestHome } from '../support/serve.ts';

const POLICY = `
roots: { a: { path: ~/a } }
servers: { git: { socket: git-in } }
rules: [{ id: git-a, allow: [a], servers: [git] }]
`;

describe('a named listener', () => {
  it('makes whoever comes in by it the server it is for, and nobody else', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    home.configure('listeners: { git-in: { path: git.sock } }\n');
    home.policy(POLICY);
    await home.serve();
    const attach = { version: 1, server: 'other' };
    const byListener = await connectPeer(t, join(dirname(home.socket), 'git.sock'));
    const { result } = await byListener.request('rootsd/attach', attach);
    assert.equal((result as { peer: { server: string } }).peer.server, 'git');
    assert.equal((result as { roots: unknown[] }).roots.length, 1);
    const common = await connectPeer(t, home.socket);
    const claimed = await common.request('rootsd/attach', { ...attach, server: 'git' });
    assert.deepEqual((claimed.result as { roots: unknown[] }).roots, []);
  });

  it('has a person asked, and what is given counts for nobody who only says that name', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    home.configure(`listeners: { git-in: { path: git.sock } }\n${PATIENT}`);
    home.policy(POLICY.replace('allow: [a]', 'ask: [a]'));
    await home.serve();
    const come = async (socket: string) => {
      const peer = await connectPeer(t, socket);
      await peer.request('rootsd/attach', { version: 1, server: 'git' });
      return peer;
    };
    const byListener = await come(join(dirname(home.socket), 'git.sock'));
    assert.deepEqual(await listed(byListener), []);
    const [first, second] = [await onlyQuestion(home), await come(home.socket)];
    await home.json('consent', 'approve', first.id, '--scope', '8h');
    assert.deepEqual(await listed(byListener), ['a']);
    assert.deepEqual(await listed(second), []);
    // Of that one a fact is missing, so it is asked for as well; a person sees that it did not come by the listener.
    const { facts } = await home.json<ShownConsent>('consent', 'show', (await onlyQuestion(home)).id);
    assert.ok(!facts.includes('listener=git-in'));
    const { grants } = await list(home);
    const given = await home.json<ShownConsent>('consent', 'show', grants[0]?.id ?? '');
    assert.ok(given.facts.includes('listener=git-in'));
  });
});
