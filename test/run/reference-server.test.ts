import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { FakeDaemon, viewOf } from '../support/fake-daemon.ts';
import { useRun } from '../support/run-host.ts';
import { makeTree } from '../support/tree.ts';

const program = useRun();
const require = createRequire(import.meta.url);
const FILESYSTEM = join(
  dirname(require.resolve('@modelcontextprotocol/server-filesystem/package.json')),
  'dist/index.js',
);

interface Setup {
  readonly base: string;
  readonly daemon: FakeDaemon;
  readonly args: readonly string[];
}

async function setUp(t: TestContext, directories: (base: string) => readonly string[]): Promise<Setup> {
  const base = makeTree(t, ['file a/f in a', 'file b/f in b', 'dir run']);
  const daemon = await FakeDaemon.start(t, `${base}/run`, viewOf({ a: `${base}/a` }));
  // What the server itself makes of its list is seen only where nobody stands before it.
  daemon.plan = { ...daemon.plan, guard: 'off' };
  const command = [process.execPath, FILESYSTEM, ...directories(base)];
  return { base, daemon, args: [program(), '--socket', daemon.socket, '--server', 'filesystem', '--', ...command] };
}

async function connect(t: TestContext, args: readonly string[], roots?: readonly string[]): Promise<Client> {
  const client = new Client(
    { name: 'host', version: '1' },
    { capabilities: roots === undefined ? {} : { roots: { listChanged: true } } },
  );
  if (roots !== undefined) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: roots.map((path) => ({ uri: `file://${path}` })),
    }));
  }
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [...args], stderr: 'ignore' }));
  t.after(() => client.close());
  return client;
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = (await client.callTool({ name, arguments: args })) as { content: { text: string }[] };
  return content[0]?.text ?? '';
}

/** Asks until the server says that these are its directories: it takes a change in its own time. */
async function untilAllowed(client: Client, matches: RegExp | string): Promise<string> {
  for (;;) {
    const text = await call(client, 'list_allowed_directories');
    const listed = text.split('\n').slice(1).join('\n');
    if (typeof matches === 'string' ? listed === matches : matches.test(listed)) return listed;
  }
}

describe('rootsd run, the reference filesystem server behind an SDK 1.x host', () => {
  it("sees the policy's roots, a change, and that nothing is allowed any more", async (t) => {
    const { base, daemon, args } = await setUp(t, (it) => [`${it}/b`]);
    const client = await connect(t, args);
    await untilAllowed(client, `${base}/a`);
    assert.equal(await call(client, 'read_text_file', { path: `${base}/a/f` }), 'in a');
    assert.match(await call(client, 'read_text_file', { path: `${base}/b/f` }), /denied/);
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    await untilAllowed(client, `${base}/b`);
    assert.equal(await call(client, 'read_text_file', { path: `${base}/b/f` }), 'in b');
    assert.match(await call(client, 'read_text_file', { path: `${base}/a/f` }), /denied/);
    daemon.publish(viewOf({}, '03'));
    await untilAllowed(client, /\/empty-[0-9a-f]+$/);
    for (const name of ['a', 'b']) {
      assert.match(await call(client, 'read_text_file', { path: `${base}/${name}/f` }), /denied/);
    }
  });

  it('starts where nothing is allowed, whatever its command line says', async (t) => {
    const { base, daemon, args } = await setUp(t, (it) => [`${it}/b`]);
    daemon.publish(viewOf({}));
    const client = await connect(t, args);
    await untilAllowed(client, /\/empty-[0-9a-f]+$/);
    assert.match(await call(client, 'read_text_file', { path: `${base}/b/f` }), /denied/);
  });

  it('is narrowed by the roots of the host', async (t) => {
    const { base, daemon, args } = await setUp(t, (it) => [`${it}/b`]);
    daemon.publish(viewOf({ base, b: `${base}/b` }));
    const client = await connect(t, args, [`${base}/a`, '/etc']);
    await untilAllowed(client, `${base}/a`);
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: `file://${base}/b` }] }));
    await client.sendRootsListChanged();
    await untilAllowed(client, `${base}/b`);
  });

  it('works by its command line alone, through {roots}', async (t) => {
    const { base, daemon, args } = await setUp(t, () => ['{roots}']);
    daemon.plan = { ...daemon.plan, roots: false };
    const client = await connect(t, args);
    assert.equal(await untilAllowed(client, `${base}/a`), `${base}/a`);
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    await untilAllowed(client, `${base}/b`);
    assert.match(await call(client, 'read_text_file', { path: `${base}/a/f` }), /denied/);
    daemon.publish(viewOf({}, '03'));
    await untilAllowed(client, /\/empty-[0-9a-f]+$/);
    assert.match(await call(client, 'read_text_file', { path: `${base}/b/f` }), /denied/);
  });
});

describe('rootsd run, the reference filesystem server behind twenty lines of Node', () => {
  it("sees the policy's roots, and a change", async (t) => {
    const { base, daemon, args } = await setUp(t, (it) => [`${it}/b`]);
    writeFileSync(`${base}/a/second`, '2');
    const child = spawn(process.execPath, [...args], { stdio: ['pipe', 'pipe', 'ignore'] });
    t.after(() => child.kill());
    const waiting = new Map<number, (message: { result: { content: { text: string }[] } }) => void>();
    createInterface({ input: child.stdout }).on('line', (line) => waiting.get(JSON.parse(line).id)?.(JSON.parse(line)));
    const send = (message: object): boolean => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const ask = (method: string, params: object): Promise<string> =>
      new Promise((resolve) => {
        const id = waiting.size;
        waiting.set(id, ({ result }) => resolve(result.content?.[0]?.text ?? ''));
        send({ id, method, params });
      });
    await ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    });
    send({ method: 'notifications/initialized' });
    const list = (path: string): Promise<string> => ask('tools/call', { name: 'list_directory', arguments: { path } });
    while (!(await list(`${base}/a`)).includes('[FILE] second'));
    assert.match(await list(`${base}/b`), /denied/);
    daemon.publish(viewOf({ b: `${base}/b` }, '02'));
    while (!(await list(`${base}/b`)).includes('[FILE] f'));
    assert.match(await list(`${base}/a`), /denied/);
  });
});
