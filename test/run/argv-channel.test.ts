import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { identifyProcess } from '../../src/run/processes.ts';
import { viewOf } from '../support/fake-daemon.ts';
import { type Json, useRun } from '../support/run-host.ts';
import { setUpRun } from '../support/run-setup.ts';

const program = useRun();

describe('rootsd run, placeholders in arguments', () => {
  it('expands {roots}, {primary} and {root:NAME}, and nothing else', async (t) => {
    const args = ['{roots}', '--first={primary}', '-d', '{root:b}', 'x{roots}y', '{root}', '$HOME', '{other}'];
    const { base, host } = await setUpRun(t, program(), { args, allowed: ['a', 'b'] });
    await host.initialize();
    assert.deepEqual(await host.ask('argv'), [
      `${base}/a`,
      `${base}/b`,
      `--first=${base}/a`,
      '-d',
      `${base}/b`,
      `x${base}/ay`,
      `x${base}/by`,
      '{root}',
      '$HOME',
      '{other}',
    ]);
  });

  it('stand for an empty directory where there is no such root: never for no argument', async (t) => {
    const { base, host } = await setUpRun(t, program(), { args: ['{roots}', '{primary}', '{root:a}'], allowed: [] });
    await host.initialize();
    const argv = (await host.ask('argv')) as string[];
    assert.equal(argv.length, 3);
    assert.equal(new Set(argv).size, 1);
    assert.deepEqual(readdirSync(argv[0] ?? ''), []);
    const other = await setUpRun(t, program(), { args: ['{roots}', '{root:b}'] });
    await other.host.initialize();
    const [root, missing] = (await other.host.ask('argv')) as string[];
    assert.equal(root, `${other.base}/a`);
    assert.deepEqual(readdirSync(missing ?? base), []);
  });
});

describe('rootsd run, a change where argv is the channel', () => {
  it('replaces the server and keeps the session of the host', async (t) => {
    const { base, daemon, host } = await setUpRun(t, program(), { args: ['{roots}'] });
    const capabilities = { sampling: {}, x: [1.5] };
    await host.initialize(capabilities);
    await host.request('resources/subscribe', { uri: 'memo:s1' });
    await host.request('resources/subscribe', { uri: 'memo:s2' });
    await host.request('resources/unsubscribe', { uri: 'memo:s2' });
    await host.request('logging/setLevel', { level: 'debug' });
    const before = (await host.ask('environment')) as { pid: number };
    const seen = host.messages.length;
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    assert.deepEqual(await host.ask('argv'), [`${base}/b`]);
    assert.equal(identifyProcess(before.pid), null);
    const lines = ((await host.ask('received')) as string[]).map((line) => JSON.parse(line) as Json);
    assert.deepEqual(
      lines.slice(0, 4).map(({ method }) => method),
      ['initialize', 'notifications/initialized', 'resources/subscribe', 'logging/setLevel'],
    );
    assert.deepEqual((lines[0]?.params as Json | undefined)?.capabilities, {
      ...capabilities,
      roots: { listChanged: true },
    });
    assert.deepEqual(lines[2]?.params, { uri: 'memo:s1' });
    assert.deepEqual(lines[3]?.params, { level: 'debug' });
    // The host has seen the answers to its own requests and nothing else.
    assert.deepEqual(
      host.messages.slice(seen).filter(({ id }) => typeof id !== 'number'),
      [],
    );
    assert.equal(host.messages.length, seen + 2);
  });

  it('does not subscribe again to what is not allowed any more', async (t) => {
    const { base, daemon, host } = await setUpRun(t, program(), { args: ['{roots}'] });
    await host.initialize();
    for (const uri of [`file://${base}/a/f`, 'memo:s'])
      host.send({ id: uri, method: 'resources/subscribe', params: { uri } });
    await host.next(({ id }) => id === 'memo:s');
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    const lines = ((await host.ask('received')) as string[]).map((line) => JSON.parse(line) as Json);
    const uris = lines.flatMap(({ method, params }) => (method === 'resources/subscribe' ? [params] : []));
    assert.deepEqual(uris, [{ uri: 'memo:s' }]);
  });

  it('lets calls under way end, and holds new ones back until the new server is there', async (t) => {
    const { base, daemon, host } = await setUpRun(t, program(), { args: ['{roots}'] });
    await host.initialize();
    const slow = host.request('later', { ms: 600 });
    await host.ask('echo');
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    assert.equal((await slow).result, 'later');
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    assert.deepEqual(await host.ask('argv'), [`${base}/b`]);
  });

  it('answers a call that does not end with an error', async (t) => {
    const { base, daemon, host } = await setUpRun(t, program(), { args: ['{roots}'] });
    await host.initialize();
    const never = host.request('never');
    await host.ask('echo');
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    assert.match(((await never).error as { message: string }).message, /started again/);
    assert.deepEqual(await host.ask('argv'), [`${base}/b`]);
  });

  it('replaces a server that is not initialized yet, and the host gets the one answer', async (t) => {
    const { base, daemon, host } = await setUpRun(t, program(), { args: ['{roots}'] });
    await host.ask('echo');
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    await host.initialize();
    assert.deepEqual(await host.ask('argv'), [`${base}/b`]);
  });

  it('follows several changes to the last one', async (t) => {
    const { base, daemon, host } = await setUpRun(t, program(), { args: ['{roots}'] });
    await host.initialize();
    for (let i = 0; i < 5; i++) {
      daemon.publish(viewOf({ b: `${base}/b` }, `1${i}`));
      daemon.publish(viewOf({ a: `${base}/a`, b: `${base}/b` }, `2${i}`));
    }
    while ((await daemon.next('rootsd/ack')).params.generation !== '24');
    assert.deepEqual(await host.ask('argv'), [`${base}/a`, `${base}/b`]);
  });

  it('leaves the server alone where its command line stays the same', async (t) => {
    const { base, daemon, host } = await setUpRun(t, program(), { args: ['{root:a}'] });
    await host.initialize();
    const before = (await host.ask('environment')) as { pid: number };
    daemon.publish(viewOf({ a: `${base}/a`, b: `${base}/b` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    assert.equal(((await host.ask('environment')) as { pid: number }).pid, before.pid);
    assert.equal(await host.ask('list-changed'), 1);
  });

  it('does not hand an answer for the old server to the new one', async (t) => {
    const { base, daemon, host } = await setUpRun(t, program(), { args: ['{roots}'] });
    await host.initialize();
    const raw = '{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage"}\n';
    await host.ask('raw', { text: raw });
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    host.send({ id: 0, result: 'for the old one' });
    await host.ask('raw', { text: raw });
    host.send({ id: 0, result: 'for the new one' });
    const lines = (await host.ask('received')) as string[];
    assert.deepEqual(
      lines.filter((line) => line.includes('for the')),
      ['{"jsonrpc":"2.0","id":0,"result":"for the new one"}'],
    );
  });

  it('ends as the new server does', async (t) => {
    const { base, daemon, host } = await setUpRun(t, program(), { args: ['{roots}'] });
    await host.initialize();
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    host.send({ id: 'x', method: 'exit', params: { status: 9 } });
    assert.deepEqual(await host.ended, { status: 9, signal: null });
  });

  it('ends where the server ends while it is about to be replaced', async (t) => {
    const { base, daemon, host } = await setUpRun(t, program(), { args: ['{roots}'] });
    await host.initialize();
    host.send({ id: 'x', method: 'later', params: { ms: 60_000 } });
    const { pid } = (await host.ask('environment')) as { pid: number };
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    process.kill(pid, 'SIGKILL');
    assert.deepEqual(await host.ended, { status: null, signal: 'SIGKILL' });
    assert.ok(host.messages.find(({ id }) => id === 'x')?.error);
  });
});
