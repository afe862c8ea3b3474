import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { readHostRoots } from '../../src/run/host-roots.ts';
import type { Reply } from '../../src/run/own-requests.ts';
import { viewOf } from '../support/fake-daemon.ts';
import { type Json, type RunHost, useRun } from '../support/run-host.ts';
import { type RunSetup, setUpRun } from '../support/run-setup.ts';
import { makeTree } from '../support/tree.ts';

const listOf = (...uris: readonly unknown[]): Reply => ({ result: { roots: uris.map((uri) => ({ uri })) } });

describe('readHostRoots()', () => {
  /** An answer of the host, in a tree with directory `d`, link `l` to it and file `f`; the limits; how many warnings. */
  const ROWS: readonly (readonly [string, (base: string) => Reply, readonly string[] | null, number])[] = [
    ['an empty list is a list', () => listOf(), [], 0],
    ['a directory', (base) => listOf(`file://${base}/d`), ['d'], 0],
    ['a link is what it leads to', (base) => listOf(`file://${base}/l`), ['d'], 0],
    ['a directory with localhost', (base) => listOf(`file://localhost${base}/d`), ['d'], 0],
    ['what does not exist limits to nothing', (base) => listOf(`file://${base}/none`), [], 0],
    ['a bare absolute path is taken as one', (base) => listOf(`${base}/d`), ['d'], 1],
    [
      'a foreign scheme beside a usable one is left out',
      (base) => listOf('vscode-remote://x/y', `file://${base}/d`),
      ['d'],
      1,
    ],
    ['foreign schemes alone are no list', () => listOf('vscode-remote://x/y', 'https://x/'), null, 3],
    ['relative paths, bare names and nothing are no list', () => listOf('./x', 'x', '', undefined, 7), null, 4],
    ['another host is no list', () => listOf('file://server/share'), null, 2],
    ['two slashes and a backslash are no list', () => listOf('file://C:\\x'), null, 2],
    ['an error is no list', () => ({ error: { code: -32601, message: 'x' } }), null, 1],
    ['silence is no list', () => null, null, 1],
    ['a result without roots is no list', () => ({ result: {} }), null, 1],
    ['a list that is none is no list', () => ({ result: { roots: 'x' } }), null, 1],
    [
      'an entry of more than 4 KiB is left out',
      (base) => listOf(`file://${base}/${'x'.repeat(4_096)}`, `file://${base}/d`),
      ['d'],
      0,
    ],
    ['only 64 entries are used', (base) => listOf(...Array(64).fill(`file://${base}/none`), `file://${base}/d`), [], 1],
  ];
  for (const [what, reply, limits, warnings] of ROWS) {
    it(`${what}`, (t) => {
      const base = makeTree(t, ['dir d', 'link l -> d']);
      const said = new Set<string>();
      const list = readHostRoots(reply(base), (sentence) => said.add(sentence));
      assert.deepEqual(list.limits, limits?.map((name) => `${base}/${name}`) ?? null);
      assert.equal(said.size, warnings, [...said].join('\n'));
    });
  }

  it('reads "/" as a limit that everything lies in', () => {
    assert.deepEqual(readHostRoots(listOf('file:///'), assert.fail).limits, ['/']);
  });
});

const program = useRun();

/** Answers the question of `run` for the host's roots. */
async function answerRoots(host: RunHost, answer: Json): Promise<void> {
  const { id } = await host.next(({ method }) => method === 'roots/list');
  host.skip();
  host.send({ id, ...answer });
}

const rootsOf = (...paths: readonly string[]): Json => ({
  result: { roots: paths.map((path) => ({ uri: `file://${path}` })) },
});

async function askRoots(host: RunHost): Promise<readonly unknown[]> {
  const answer = (await host.ask('roots')) as { result: { roots: Json[] } };
  return answer.result.roots.map(({ uri }) => String(uri).replace('file://', ''));
}

function setUp(t: TestContext, plan: { hostRoots?: 'ignore' } = {}): Promise<RunSetup> {
  return setUpRun(t, program(), { plan, allowed: ['a', 'b'] });
}

describe('rootsd run, roots of the host', () => {
  it('narrow the first list already, and the daemon hears of them', async (t) => {
    const { base, daemon, host } = await setUp(t);
    await host.initialize({ roots: {} });
    const list = askRoots(host);
    await answerRoots(host, rootsOf(`${base}/b`, `${base}/elsewhere`));
    assert.deepEqual(await list, [`${base}/b`]);
    assert.equal(await host.ask('list-changed'), 0);
    assert.deepEqual((await daemon.next('rootsd/hostRoots')).params, {
      roots: [{ uri: `file://${base}/b` }, { uri: `file://${base}/elsewhere` }],
    });
  });

  it('narrow to a place below a root of the policy, never to one outside', async (t) => {
    const { base, host } = await setUp(t);
    symlinkSync('/', `${base}/a/out`);
    await host.initialize({ roots: { listChanged: true } });
    await answerRoots(host, rootsOf(`${base}/a/out`, `${base}/a/out/etc`, `${base}/a/../b`));
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`], '"/" narrows nothing');
    host.send({ method: 'notifications/roots/list_changed' });
    await answerRoots(host, rootsOf(`${base}/a/out/etc`, `${base}/a/../b`));
    assert.deepEqual(await askRoots(host), [`${base}/b`]);
  });

  it('are asked for again when they change, and the server hears of the new list', async (t) => {
    const { base, host } = await setUp(t);
    await host.initialize({ roots: {} });
    await answerRoots(host, rootsOf(base));
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
    host.send({ method: 'notifications/roots/list_changed' });
    await answerRoots(host, rootsOf(`${base}/a`));
    assert.deepEqual(await askRoots(host), [`${base}/a`]);
    assert.equal(await host.ask('list-changed'), 1);
  });

  it('narrow a later view of the policy too', async (t) => {
    const { base, daemon, host } = await setUp(t);
    await host.initialize({ roots: {} });
    await answerRoots(host, rootsOf(`${base}/b`));
    daemon.publish(viewOf({ a: `${base}/a` }, '02'));
    while ((await daemon.next('rootsd/ack')).params.generation !== '02');
    const [only] = await askRoots(host);
    assert.match(String(only), /\/empty-[0-9a-f]+$/);
  });

  it('that are an empty list narrow to nothing', async (t) => {
    const { host } = await setUp(t);
    await host.initialize({ roots: {} });
    await answerRoots(host, rootsOf());
    assert.match(String((await askRoots(host))[0]), /\/empty-[0-9a-f]+$/);
    await host.said('rootsd allow');
  });

  it('that are not told are as good as none, with one warning; the list waits for at most half a second', async (t) => {
    const { base, host } = await setUp(t);
    await host.initialize({ roots: {} });
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
    await host.said('The host offers roots, but does not list them');
  });

  it('that end in an error are as good as none', async (t) => {
    const { base, host } = await setUp(t);
    await host.initialize({ roots: {} });
    await answerRoots(host, { error: { code: -32601, message: 'Method not found' } });
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
    await host.said('lists none that can be read');
  });

  for (const [what, capabilities, plan] of [
    ['where the host offers none', {}, {}],
    ['where the policy says "host-roots: ignore"', { roots: {} }, { hostRoots: 'ignore' }],
  ] as const) {
    it(`are not asked for ${what}`, async (t) => {
      const { base, host } = await setUp(t, plan);
      await host.initialize(capabilities);
      host.send({ method: 'notifications/roots/list_changed' });
      assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
      assert.equal(host.output.includes('roots/list'), false);
    });
  }

  it('narrow as soon as the policy says so, and no longer when it says "host-roots: ignore"', async (t) => {
    const { base, daemon, host } = await setUp(t, { hostRoots: 'ignore' });
    const allowed = viewOf({ a: `${base}/a`, b: `${base}/b` });
    await host.initialize({ roots: {} });
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
    daemon.plan = { ...daemon.plan, hostRoots: 'narrow' };
    daemon.publish({ ...allowed, generation: '02' });
    await answerRoots(host, rootsOf(`${base}/b`));
    assert.deepEqual(await askRoots(host), [`${base}/b`]);
    daemon.plan = { ...daemon.plan, hostRoots: 'ignore' };
    daemon.publish({ ...allowed, generation: '03' });
    while ((await daemon.next('rootsd/ack')).params.generation !== '03');
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
    assert.equal(await host.ask('list-changed'), 2);
  });

  it('that are an answer which is no JSON are as good as none', async (t) => {
    const { base, host } = await setUp(t);
    await host.initialize({ roots: {} });
    const { id } = await host.next(({ method }) => method === 'roots/list');
    host.skip();
    host.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"roots":[{"uri":"x}\n`);
    assert.deepEqual(await askRoots(host), [`${base}/a`, `${base}/b`]);
    await host.said('lists none that can be read');
  });

  it('are asked for under an id that no server can use meanwhile', async (t) => {
    const { host } = await setUp(t);
    await host.initialize({ roots: {} });
    const { id } = await host.next(({ method }) => method === 'roots/list');
    assert.match(String(id), /^rootsd-[0-9a-f]{32}-1$/);
    host.skip();
    const raw = JSON.stringify({ jsonrpc: '2.0', id, method: 'sampling/createMessage' });
    const answer = (await host.ask('roots', { rootsId: id as string, raw })) as { error: { code: number } };
    assert.equal(answer.error.code, -32600);
    assert.equal(host.output.includes('sampling'), false);
  });

  it('that come as an answer of a megabyte are no message to the server', async (t) => {
    const { base, host } = await setUp(t);
    await host.initialize({ roots: {} });
    const { id } = await host.next(({ method }) => method === 'roots/list');
    host.skip();
    const roots = Array.from({ length: 64 }, () => ({ uri: `file://${base}/a`, name: 'x'.repeat(16_000) }));
    host.write(`${JSON.stringify({ result: { roots }, jsonrpc: '2.0', id })}\n`);
    assert.deepEqual(await askRoots(host), [`${base}/a`]);
    assert.equal(
      ((await host.ask('received')) as string[]).some((line) => line.includes('xxxx')),
      false,
    );
  });
});
