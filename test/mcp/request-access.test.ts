// The tool that asks a person, and waits for what that says.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ERAS, type Era, type McpPeer, openMcpPeer } from '../support/mcp-peer.ts';
import { TestHome } from '../support/serve.ts';

async function asking(
  t: TestContext,
  { more = '', era = 'modern' }: { readonly more?: string; readonly era?: Era } = {},
) {
  const home = new TestHome(t, ['dir home/app', 'dir home/other']);
  home.configure(more);
  home.policy('roots: { app: { path: ~/app }, other: { path: ~/other } }\nrules: [{ id: q, ask: [app, other] }]\n');
  const daemon = await home.serve();
  return { home, daemon, client: await openMcpPeer(t, home.socket, era) };
}

async function questions(home: TestHome): Promise<readonly { readonly id: string; readonly root: string }[]> {
  return (await home.json<{ pending: { id: string; root: string }[] }>('consent', 'list')).pending;
}

test('request_access asks for the one root, and is answered when a person has said yes', async (t) => {
  const { home, daemon, client } = await asking(t);
  const answered = client.call('request_access', { path: join(home.home, 'app/x') });
  await daemon.logged('consent asked');
  // Others are answered meanwhile.
  assert.deepEqual(await client.call('list_roots'), { roots: [] });
  const [question, ...others] = await questions(home);
  assert.deepEqual([question?.root, others], ['app', []]);
  await home.json('consent', 'approve', question?.id ?? '');
  const { state, access } = await answered;
  assert.deepEqual([state, access], ['granted', 'read-only']);
  const { roots } = await client.call('list_roots');
  assert.deepEqual(
    roots.map(({ name }: { name: string }) => name),
    ['app'],
  );
});

test('request_access is denied when a person has said no', async (t) => {
  const { home, daemon, client } = await asking(t);
  const answered = client.call('request_access', { path: join(home.home, 'app') });
  await daemon.logged('consent asked');
  const [question] = await questions(home);
  await home.json('consent', 'deny', question?.id ?? '');
  assert.equal((await answered).state, 'denied');
});

test('request_access stays undecided where nobody answers, and asks again', async (t) => {
  const { home, daemon, client } = await asking(t, { more: 'consent: { timeout: 1s }\n' });
  const path = join(home.home, 'app');
  assert.equal((await client.call('request_access', { path })).state, 'undecided');
  const again = client.call('request_access', { path });
  await daemon.logged('consent asked', 2);
  assert.equal((await again).state, 'undecided');
});

test('a question of a client that is gone is asked no more', async (t) => {
  const { home, daemon, client } = await asking(t);
  client.send('tools/call', { name: 'request_access', arguments: { path: join(home.home, 'app') } });
  await daemon.logged('consent asked');
  client.peer.socket.destroy();
  await daemon.logged('consent question withdrawn');
  assert.deepEqual(await questions(home), []);
});

function request(client: McpPeer, home: TestHome, path: string): number {
  return client.send('tools/call', { name: 'request_access', arguments: { path: join(home.home, path) } });
}

for (const era of ERAS) {
  test(`a ${era} client that cancels its call is not answered, and nobody is asked any more`, async (t) => {
    const { home, daemon, client } = await asking(t, { era });
    const requestId = request(client, home, 'app');
    await daemon.logged('consent asked');
    client.notify('notifications/cancelled', { requestId });
    await daemon.logged('consent question withdrawn');
    assert.deepEqual(await questions(home), []);
    // It may be asked again, and no answer to the first one comes in between.
    const again = request(client, home, 'app');
    await daemon.logged('consent asked', 2);
    const [question] = await questions(home);
    await home.json('consent', 'approve', question?.id ?? '');
    const { result } = await client.reply(again);
    assert.equal(result.structuredContent.state, 'granted');
    assert.ok(!client.peer.received.join('').includes(`"id":${requestId},`));
  });
}

test('what one call gives up another one still waits for', async (t) => {
  const { home, daemon, client } = await asking(t);
  const [first, second] = [request(client, home, 'app'), request(client, home, 'app/sub')];
  await daemon.logged('consent asked');
  // Both wait for the same once this is answered.
  await client.call('check_path', { path: join(home.home, 'app') });
  client.notify('notifications/cancelled', { requestId: first });
  await client.call('list_roots');
  const [question] = await questions(home);
  await home.json('consent', 'approve', question?.id ?? '');
  assert.equal((await client.reply(second)).result.structuredContent.state, 'granted');
});

test('a client whose calls wait for a person, however many, can cancel them all and is served', async (t) => {
  const { home, daemon, client } = await asking(t);
  const calls = Array.from({ length: 60 }, () => request(client, home, 'app'));
  await daemon.logged('consent asked');
  for (const requestId of calls) client.notify('notifications/cancelled', { requestId });
  assert.deepEqual(await client.call('list_roots'), { roots: [] });
  await daemon.logged('consent question withdrawn');
});
