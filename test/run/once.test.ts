// What is given once is for the call that it was asked for: with a real daemon, behind `rootsd run`.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { list, ROOTS } from '../support/asking-home.ts';
import { type AskingRun, askingRun, callOf } from '../support/asking-run.ts';
import type { Json } from '../support/run-host.ts';

const POLICY = `${ROOTS}rules: [{ id: q, ask: [a], access: read-write, scopes: [once, session] }]`;
const UNANSWERED = { script: [null] };
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A call that is let through once; `more`: of its parameters. */
async function letThrough(t: TestContext, more: (path: string) => Json = () => ({})): Promise<AskingRun> {
  const run = await askingRun(t, { policy: POLICY });
  const { home, host, shown } = run;
  const path = join(home.home, 'a');
  host.send(callOf(path, 7, more(path)));
  await home.json('consent', 'approve', (await shown.next()).id, '--scope', 'once');
  return run;
}

/** Waits until nothing of it holds any more, here and at the daemon. */
async function ended({ home, daemon, host, shown }: AskingRun): Promise<void> {
  assert.equal((await daemon.logged('consent ended')).how, 'ended');
  assert.deepEqual((await list(home)).grants, []);
  host.send(callOf(join(home.home, 'a'), 9));
  await shown.next();
}

/** Waits until the server has the call. */
async function isUnderWay({ host }: AskingRun): Promise<void> {
  for (;;) {
    const received = (await host.ask('received')) as readonly string[];
    if (received.some((line) => line.includes('"read 7"'))) return;
  }
}

for (const [era, more] of [
  ['legacy', {}],
  ['modern', { _meta: MODERN }],
] as const) {
  test(`ends with the answer to a call of the ${era} era`, async (t) => {
    const run = await letThrough(t, () => more);
    assert.equal((await run.host.next(({ id }) => id === 7)).result, 'done');
    await ended(run);
  });
}

test('holds as long as the call is under way, and ends when the host gives it up', async (t) => {
  const run = await letThrough(t, (path) => ({ arguments: { path, ...UNANSWERED } }));
  await isUnderWay(run);
  assert.equal((await list(run.home)).grants[0]?.scope, 'once');
  assert.equal(
    (await run.host.request('tools/call', callOf(join(run.home.home, 'a'), 8).params as Json)).result,
    'done',
  );
  run.host.send({ method: 'notifications/cancelled', params: { requestId: 7 } });
  await ended(run);
});

test('ends with the server, and with it the session', async (t) => {
  const run = await letThrough(t, (path) => ({ arguments: { path, ...UNANSWERED } }));
  await isUnderWay(run);
  run.host.send({ id: 8, method: 'die', params: { signal: 'SIGKILL' } });
  assert.ok((await run.host.next(({ id }) => id === 7)).error);
  assert.equal((await run.daemon.logged('consent ended')).how, 'ended');
  assert.deepEqual((await list(run.home)).grants, []);
});

test('ends when the server that has the call is started again', async (t) => {
  const run = await letThrough(t, (path) => ({ arguments: { path, ...UNANSWERED } }));
  await isUnderWay(run);
  run.home.policy(`${POLICY}\nservers: { fs: { channels: [cwd] } }`);
  await run.host.next(({ id, error }) => id === 7 && error !== undefined);
  assert.equal((await run.daemon.logged('consent ended')).how, 'ended');
});
