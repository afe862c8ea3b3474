import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ResetReply, RevokeReply } from '../../src/daemon/consent-control.ts';
import { ASKS, list, listed, onlyQuestion, ROOTS, served } from '../support/asking-home.ts';
import { TestHome } from '../support/serve.ts';

test('a no holds for the session, a second one for all of them until it is reset', async (t) => {
  const { home } = await served(t);
  const first = await home.peer('fs', { watch: true });
  await listed(first);
  assert.equal((await home.json('consent', 'deny', (await onlyQuestion(home)).id)).status, 0);
  const { params } = await first.next();
  assert.equal(params.view[0].kind, 'refused');
  await listed(first);
  assert.deepEqual((await list(home)).pending, []);
  await listed(await home.peer('fs'));
  await home.json('consent', 'deny', (await onlyQuestion(home)).id);
  await listed(await home.peer('fs'));
  assert.deepEqual((await list(home)).pending, [], 'remembered');
  assert.equal((await home.json<ResetReply>('consent', 'reset')).refusals[0]?.count, 2);
  await listed(await home.peer('fs'));
  assert.equal((await list(home)).pending.length, 1);
});

test('a question that nobody answers is closed and not remembered', async (t) => {
  const home = new TestHome(t, ['dir home/a']);
  home.policy(ASKS);
  home.configure('consent: { timeout: 1s }\n');
  const daemon = await home.serve();
  const peer = await home.peer('fs');
  assert.deepEqual(await listed(peer), []);
  assert.match(String((await daemon.logged('consent question withdrawn')).why), /in time/);
  const { pending, history } = await list(home);
  assert.deepEqual([pending, history], [[], []]);
  await listed(peer);
  assert.deepEqual((await list(home)).pending, [], 'once a session');
  await listed(await home.peer('fs'));
  assert.equal((await list(home)).pending.length, 1);
});

test('revoking changes running sessions at once, and the audit says how long it was exposed', async (t) => {
  const { home } = await served(t);
  const peer = await home.peer('fs', { watch: true });
  await listed(peer);
  await home.json('consent', 'approve', (await onlyQuestion(home)).id, '--scope', 'always');
  assert.equal((await peer.next()).params.roots.length, 1);
  assert.equal((await home.json<RevokeReply>('consent', 'revoke', '--server', 'git')).status, 1);
  const { grants, status } = await home.json<RevokeReply>('consent', 'revoke', '--server', 'fs');
  assert.deepEqual([status, grants.length, grants[0]?.state], [0, 1, 'revoked']);
  assert.deepEqual((await peer.next()).params.roots, []);
  const audit = readFileSync(join(home.home, '.local/state/rootsd/audit.jsonl'), 'utf8').trim().split('\n');
  const ended = audit.map((line) => JSON.parse(line)).find(({ event }) => event === 'consent ended');
  assert.deepEqual([ended.how, ended.by.channel, ended.server], ['revoked', 'command', 'fs']);
  assert.ok(Date.parse(ended.exposed.from) <= Date.parse(ended.exposed.to));
  assert.equal((await home.json('consent', 'revoke', '--all')).status, 0);
  for (const wrong of [[], ['x', '--all'], ['--root', 'a', '--server', 'fs']]) {
    assert.equal((await home.command('consent', 'revoke', ...wrong)).status, 64);
  }
});

test('a deny or another rule beats a grant at once; the same rule wakes it', async (t) => {
  const { home } = await served(t);
  const peer = await home.peer('fs');
  await listed(peer);
  await home.json('consent', 'approve', (await onlyQuestion(home)).id, '--scope', 'always');
  assert.deepEqual(await listed(peer), ['A']);
  const states = async () => (await list(home)).grants.map(({ state }) => state);
  const put = async (policy: string) => {
    home.policy(policy);
    await home.command('reload', '--wait');
    return [await listed(peer), await states()];
  };
  assert.deepEqual(await put(ASKS.replace('rules: [', 'rules: [{ id: d, deny: [~/a] }, ')), [[], ['holds']]);
  assert.deepEqual(await put(`${ASKS}\nceiling: [~/b]`), [[], ['holds']]);
  assert.deepEqual(await put(ASKS.replace('because', 'since')), [[], ['sleeps']]);
  assert.deepEqual(await put(ROOTS), [[], ['sleeps']]);
  assert.deepEqual(await put(`# the same again\n${ASKS}`), [['A'], ['holds']]);
});

test('another directory of the same name was not agreed to', async (t) => {
  const { home } = await served(t);
  const peer = await home.peer('fs', { watch: true });
  await listed(peer);
  await home.json('consent', 'approve', (await onlyQuestion(home)).id, '--scope', 'always');
  assert.equal((await peer.next()).params.roots.length, 1);
  rmSync(join(home.home, 'a'), { recursive: true });
  while ((await peer.next()).params.roots.length > 0);
  mkdirSync(join(home.home, 'a'));
  while (!(await peer.next()).params.view[0].available);
  assert.deepEqual(await listed(peer), []);
  assert.equal((await list(home)).pending.length, 1);
});

test('explain and roots say of a server what was given to one of its name', async (t) => {
  const { home } = await served(t);
  const explained = async (...who: readonly string[]) => {
    const { kind, why } = await home.json<{ kind: string; why: string }>('explain', 'a', ...who);
    return [kind, /grant [0-9a-f]{8}, 8h/.test(why)];
  };
  assert.deepEqual(await explained('--server', 'fs'), ['pending', false]);
  await listed(await home.peer('fs'));
  await home.json('consent', 'approve', (await onlyQuestion(home)).id, '--scope', '8h');
  for (const who of ['--server', '--claims']) assert.deepEqual(await explained(who, 'fs'), ['consent', true], who);
  assert.deepEqual(await explained('--server', 'git'), ['pending', false]);
  const { roots } = await home.json<{ roots: readonly { name: string }[] }>('roots', '--server', 'fs');
  assert.deepEqual(
    roots.map(({ name }) => name),
    ['A'],
  );
});

test('an ask adds to what is allowed, and only the difference is asked for', async (t) => {
  const { home } = await served(t, `${ROOTS}rules: [{ id: w, allow: [a] }, { id: q, ask: [a], access: read-write }]`);
  const peer = await home.peer('fs', { watch: true });
  assert.deepEqual(await listed(peer), ['A']);
  const { access, id } = await onlyQuestion(home);
  assert.equal(access, 'read-write');
  await home.json('consent', 'approve', id);
  assert.equal((await peer.next()).params.roots[0]._meta['io.rootsd/access'], 'read-write');
});
