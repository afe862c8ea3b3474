// Calls that wait for a person, and go on.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ASKS, onlyQuestion, ROOTS } from '../support/asking-home.ts';
import { askingRun, callOf, reached } from '../support/asking-run.ts';
import { ASKING_SERVER, type Json, OBEDIENT_SERVER } from '../support/run-host.ts';

test('a call that touches what a person could give waits, and passes when it is given', async (t) => {
  const setup = await askingRun(t);
  const { home, host, shown } = setup;
  host.send(callOf(join(home.home, 'a/f')));
  const { id, root, access } = await shown.next();
  assert.deepEqual([root, access], ['a', 'read-write']);
  await host.said(`"rootsd consent approve ${id}" gives it`);
  assert.deepEqual(await reached(setup), [], 'others are not held up');
  await home.json('consent', 'approve', id);
  assert.equal((await host.next((message) => message.id === 7)).result, 'done');
  assert.deepEqual(await reached(setup), [7]);
  assert.equal((await host.request('tools/call', callOf(join(home.home, 'a/g'), 8).params as Json)).result, 'done');
});

test('the server has its new list before the call goes on', async (t) => {
  const { home, host, shown } = await askingRun(t, { server: [ASKING_SERVER] });
  // It has asked for its list, which raised the question.
  const listed = await shown.next();
  host.send(callOf(join(home.home, 'a')));
  await host.said(listed.id);
  assert.equal((await onlyQuestion(home)).count, 2);
  await home.json('consent', 'approve', listed.id);
  assert.deepEqual((await host.next((message) => message.id === 7)).result, ['A']);
});

test('a server that is told by its arguments is started again, and the new one gets the call', async (t) => {
  const policy = `${ASKS}\nservers: { fs: { channels: [argv] } }`;
  const setup = await askingRun(t, { policy, server: [OBEDIENT_SERVER, '{roots}'] });
  const { home, host, shown } = setup;
  const path = join(home.home, 'a');
  host.send(callOf(path));
  await home.json('consent', 'approve', (await shown.next()).id);
  assert.equal((await host.next((message) => message.id === 7)).result, 'done');
  assert.ok(((await host.ask('argv')) as readonly string[]).includes(path));
  assert.deepEqual(await reached(setup), [7], 'in the process that is there now');
});

test('several calls for one root are one question, and go on in their order', async (t) => {
  const setup = await askingRun(t);
  const { home, host, shown } = setup;
  for (const id of [1, 2, 3]) host.send(callOf(join(home.home, `a/${id}`), id));
  const { id } = await shown.next();
  while ((await onlyQuestion(home)).count < 3);
  await home.json('consent', 'approve', id);
  await host.next((message) => message.id === 3);
  assert.deepEqual(await reached(setup), [1, 2, 3]);
  assert.equal(host.stderr.split(id).length - 1, 2, 'said once: how to approve it and how to deny it');
});

test('a call that writes asks for more where reading is given', async (t) => {
  const policy = `${ROOTS}rules: [{ id: r, allow: [a] }, { id: q, ask: [a], access: read-write }]`;
  const setup = await askingRun(t, { policy });
  const { home, host, shown } = setup;
  host.send(callOf(join(home.home, 'a/f')));
  const { id, access } = await shown.next();
  assert.equal(access, 'read-write');
  await home.json('consent', 'approve', id);
  assert.equal((await host.next((message) => message.id === 7)).result, 'done');
});

test('members of a batch wait singly', async (t) => {
  const setup = await askingRun(t);
  const { home, host, shown } = setup;
  const [waits, passes] = [callOf(join(home.home, 'a'), 1), { id: 2, method: 'echo', params: {} }];
  host.write(`${JSON.stringify([waits, passes].map((message) => ({ jsonrpc: '2.0', ...message })))}\n`);
  await home.json('consent', 'approve', (await shown.next()).id);
  await host.next((message) => message.id === 1);
  const lines = ((await host.ask('received')) as string[]).map((line) => JSON.parse(line) as Json | Json[]);
  const ids = lines.map((one) => (Array.isArray(one) ? one.map(({ id }) => id) : one.id));
  // The notice that the list has changed, which has no id, may stand between.
  assert.deepEqual(ids.slice(2, -1).filter(Boolean), [[2], 1]);
});

test('a call of the modern era waits too', async (t) => {
  const setup = await askingRun(t);
  const { home, host, shown } = setup;
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  host.send(callOf(join(home.home, 'a'), 7, { _meta: meta }));
  host.send(callOf(join(home.home, 'a'), 8, { _meta: meta }));
  await home.json('consent', 'approve', (await shown.next()).id);
  assert.equal((await host.next((message) => message.id === 7)).result, 'done');
  const lines = ((await host.ask('received')) as string[]).map((line) => JSON.parse(line) as Json);
  const { params } = lines.find(({ id }) => id === 7) ?? assert.fail();
  const { _meta } = params as { readonly _meta: typeof meta };
  assert.deepEqual(_meta['io.modelcontextprotocol/clientCapabilities'], { roots: {} });
});
