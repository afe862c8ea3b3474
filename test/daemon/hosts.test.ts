// Whoever connects to the socket of peers and is no `rootsd run` of a host: it is told no question, and answers none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectPeer, type RawPeer } from '../socket/raw-peer.ts';
import { ASKS, list, listed, onlyQuestion, PATIENT, served } from '../support/asking-home.ts';

const ELICITS = { era: 'legacy', channels: ['roots'], askedForRoots: true, elicits: true };
const LAUNCH = { argv: ['/usr/bin/server'], cwd: '/' };

async function codeOf(peer: RawPeer, answer: object): Promise<unknown> {
  return (await peer.request('rootsd/answer', answer)).error?.data?.code;
}

test('a peer that says that it is `rootsd run`, and is not, is told no question and answers none', async (t) => {
  const { home } = await served(t, ASKS, PATIENT);
  const peer = await connectPeer(t, home.socket);
  await peer.request('rootsd/attach', { version: 1, server: 'fs', host: 'h', launch: LAUNCH });
  assert.deepEqual((await peer.request('rootsd/report', ELICITS)).result, {});
  assert.deepEqual(await listed(peer), []);
  const { id } = await onlyQuestion(home);
  assert.equal(await codeOf(peer, { id, says: 'yes', scope: 'always' }), 'CONSENT_UNKNOWN');
  assert.equal(await codeOf(peer, { id, says: 'pass' }), 'CONSENT_UNKNOWN');
  const { pending, history } = await list(home);
  assert.deepEqual([pending.length, history], [1, []]);
  assert.deepEqual(peer.unread, []);
});

test('an answer is refused with the reason where rootsd.yaml turns hosts off, and where it is none', async (t) => {
  const { home } = await served(t, ASKS, 'consent: { channels: [agent, desktop] }\n');
  const peer = await home.peer('fs');
  assert.equal(await codeOf(peer, { id: 'x', says: 'yes' }), 'CONSENT_CHANNEL_OFF');
  const rows: readonly (readonly [object, RegExp])[] = [
    [{ says: 'yes' }, /"id"/],
    [{ id: 7, says: 'yes' }, /"id"/],
    [{ id: 'x' }, /"says"/],
    [{ id: 'x', says: 'maybe' }, /"says"/],
    [{ id: 'x', says: 'yes', scope: 8 }, /"scope"/],
    [{ id: 'x', says: 'no', scope: '8h' }, /"scope"/],
  ];
  for (const [answer, message] of rows) {
    const { error } = await peer.request('rootsd/answer', answer);
    assert.deepEqual([error?.code, message.test(error?.message ?? '')], [-32602, true], JSON.stringify(answer));
  }
  const { error } = await peer.request('rootsd/report', { ...ELICITS, elicits: 'yes' });
  assert.match(error?.message ?? '', /"elicits" must be/);
});
