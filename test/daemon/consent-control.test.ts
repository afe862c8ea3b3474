// What control.sock takes of consents, said in its own words.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connectPeer, type RawPeer } from '../socket/raw-peer.ts';
import { ASKS, listed, onlyQuestion, PATIENT, served } from '../support/asking-home.ts';
import type { TestHome } from '../support/serve.ts';

function control(t: TestContext, home: TestHome): Promise<RawPeer> {
  return connectPeer(t, join(dirname(home.socket), 'control.sock'));
}

test('an answer, a revocation or a reset that says too little, too much or something else is refused', async (t) => {
  const { home } = await served(t, ASKS, PATIENT);
  await listed(await home.peer('fs'));
  const { id } = await onlyQuestion(home);
  const peer = await control(t, home);
  const rows: readonly [method: string, params: object, message: RegExp][] = [
    ['deny', { id, scope: '8h' }, /who denies gives no scope/],
    ['deny', { id, access: 'read-only' }, /who denies gives no scope/],
    ['approve', {}, /"id" is missing/],
    ['approve', { id, access: 'everything' }, /"access" must be/],
    ['approve', { id, scope: 8 }, /scope/],
    ['approve', { id, for: 'ever' }, /for/],
    ['approve', { id, scope: '24h' }, /it must be one of "session", "8h", "always"/],
    ['approve', { id, note: 'x'.repeat(501) }, /at most 500 characters/],
    ['revoke', {}, /give one of/],
    ['revoke', { all: false }, /give one of/],
    ['revoke', { all: true, server: 'fs' }, /give one of/],
    ['reset', { id }, /id/],
    ['watch', { fallback: 'yes' }, /fallback/],
  ];
  for (const [method, params, message] of rows) {
    const { error } = await peer.request(`rootsd/consent/${method}`, params);
    assert.deepEqual([error?.code, message.test(error?.message ?? '')], [-32602, true], `${method}: ${error?.message}`);
  }
  assert.equal((await onlyQuestion(home)).id, id, 'still open');
});

test('a question names what ends first first, and is told once to who watches twice; a path names what to revoke', async (t) => {
  const { home } = await served(t, ASKS.replace('[session, 8h, always]', '[always, 8h, 30m, session]'), PATIENT);
  const peer = await control(t, home);
  for (let i = 0; i < 20; i += 1) assert.deepEqual((await peer.request('rootsd/consent/watch', {})).result, {});
  await listed(await home.peer('fs'));
  const { method, params } = await peer.next();
  assert.deepEqual([method, params.question.scopes], ['rootsd/consent/asked', ['session', '30m', '8h', 'always']]);
  const { id } = params.question;
  peer.send({ jsonrpc: '2.0', id: 'answer', method: 'rootsd/consent/approve', params: { id, scope: 'always' } });
  const told = [await peer.next(), await peer.next()];
  assert.deepEqual(
    told.map((message) => message.method ?? message.result),
    ['rootsd/consent/withdrawn', { given: { scope: 'always', access: 'read-write' } }],
  );
  const other = await control(t, home);
  const revoke = async (root: string) => (await other.request('rootsd/consent/revoke', { root })).result.grants.length;
  assert.deepEqual([await revoke(join(home.home, 'b')), await revoke(join(home.home, 'a'))], [0, 1]);
});
