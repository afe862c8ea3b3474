// The reference filesystem server behind `bin/rootsd run` and a real daemon, driven by real hosts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioClientTransport2 } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { FILESYSTEM } from '../support/real-servers.ts';
import { ROOTSD, TestHome } from '../support/serve.ts';

const TREE = [
  'file home/a/f in a',
  'file home/a/sub/f in a/sub',
  'file home/b/f in b',
  'file home/c/f in c',
  'link home/a/out -> ../c',
];
const INFO = { name: 'host', version: '1' };

/** The command line that a person puts into a host. */
function commandOf(home: TestHome) {
  const args = [ROOTSD, 'run', '--', process.execPath, FILESYSTEM];
  return { command: process.execPath, args, env: { ...home.env }, stderr: 'ignore' } as const;
}

async function serve(t: TestContext): Promise<TestHome> {
  const home = new TestHome(t, TREE);
  allow(home, 'a', 'b');
  await home.serve();
  return home;
}

/** A policy that allows the server these directories and nothing else. */
function allow(home: TestHome, ...names: readonly string[]): void {
  const roots = names.map((name) => `  ${name}: { path: ~/${name} }`);
  const rule = `rules: [{ id: files, allow: [${names}], servers: [filesystem] }]`;
  const server = `servers: { filesystem: { command: [node, ${JSON.stringify(FILESYSTEM)}] } }`;
  home.policy(names.length === 0 ? server : ['roots:', ...roots, server, rule].join('\n'));
}

/** Calls a tool of the server and returns its text. */
type Call = (name: string, args?: Record<string, unknown>) => Promise<string>;

/** Asks until the server says that these are its directories, in this order: it takes a change in its own time. */
async function untilAllowed(call: Call, ...directories: readonly string[]): Promise<void> {
  const wanted = directories.join('\n');
  while ((await listed(call)) !== wanted);
}

async function untilNothing(call: Call): Promise<void> {
  while (!/^\S*\/empty(-[0-9a-f]+)?$/.test(await listed(call)));
}

async function listed(call: Call): Promise<string> {
  return (await call('list_allowed_directories')).split('\n').slice(1).join('\n');
}

/** The whole of what is asked of a server, whoever the host is. */
async function judge(home: TestHome, call: Call): Promise<void> {
  const at = (path: string): string => join(home.home, path);
  const read = (path: string): Promise<string> => call('read_text_file', { path: at(path) });
  await untilAllowed(call, at('a'), at('b'));
  assert.deepEqual([await read('a/f'), await read('b/f')], ['in a', 'in b']);
  for (const outside of ['c/f', 'a/../c/f', 'a/out/f', '.config/rootsd/rootsd.yaml', '../../etc/passwd']) {
    assert.match(await read(outside), /denied/, outside);
  }

  allow(home, 'a', 'c');
  await untilAllowed(call, at('a'), at('c'));
  assert.equal(await read('c/f'), 'in c');
  assert.match(await read('b/f'), /denied/);

  rmSync(at('a'), { recursive: true });
  await untilAllowed(call, at('c'));
  assert.match(await read('a/f'), /denied/);
  mkdirSync(at('a'));
  writeFileSync(at('a/f'), 'in another a');
  await untilAllowed(call, at('a'), at('c'));
  assert.equal(await read('a/f'), 'in another a');

  allow(home);
  await untilNothing(call);
  for (const gone of ['a/f', 'b/f', 'c/f', '../../etc/passwd']) assert.match(await read(gone), /denied/, gone);
}

async function connect(t: TestContext, home: TestHome, roots?: () => readonly string[]): Promise<Client> {
  const client = new Client(INFO, { capabilities: roots === undefined ? {} : { roots: { listChanged: true } } });
  if (roots !== undefined) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: roots().map((path) => ({ uri: `file://${path}` })),
    }));
  }
  await client.connect(new StdioClientTransport({ ...commandOf(home), args: [...commandOf(home).args] }));
  t.after(() => client.close());
  return client;
}

function callBy(client: Client | Client2): Call {
  return async (name, args = {}) => {
    const { content } = (await client.callTool({ name, arguments: args })) as { content: { text: string }[] };
    return content[0]?.text ?? '';
  };
}

describe('the reference filesystem server sees what the policy says, and every change of it', () => {
  it('behind a host of SDK 1.x', async (t) => {
    const home = await serve(t);
    await judge(home, callBy(await connect(t, home)));
  });

  it('behind a host of SDK 2.x', async (t) => {
    const home = await serve(t);
    const client = new Client2(INFO);
    await client.connect(new StdioClientTransport2({ ...commandOf(home), args: [...commandOf(home).args] }));
    t.after(() => client.close());
    await judge(home, callBy(client));
  });

  it('behind twenty lines of plain Node', async (t) => {
    const home = await serve(t);
    const { command, args, env } = commandOf(home);
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
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
    await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: INFO });
    send({ method: 'notifications/initialized' });
    await judge(home, (name, args = {}) => ask('tools/call', { name, arguments: args }));
  });
});

describe('a host that has roots of its own', () => {
  it('narrows what the policy allows, and never widens it', async (t) => {
    const home = await serve(t);
    const at = (path: string): string => join(home.home, path);
    const host = { roots: [at('a/sub'), at('c'), '/etc'] };
    const client = await connect(t, home, () => host.roots);
    const call = callBy(client);
    const change = (...roots: readonly string[]): Promise<void> => {
      host.roots = [...roots];
      return client.sendRootsListChanged();
    };
    await untilAllowed(call, at('a/sub'));
    assert.equal(await call('read_text_file', { path: at('a/sub/f') }), 'in a/sub');
    for (const path of ['a/f', 'b/f', 'c/f']) {
      assert.match(await call('read_text_file', { path: at(path) }), /denied/, path);
    }
    await change(at('b'), at('c'));
    await untilAllowed(call, at('b'));
    await change('/');
    await untilAllowed(call, at('a'), at('b'));
    assert.match(await call('read_text_file', { path: at('c/f') }), /denied/);
    await change();
    await untilNothing(call);
    // What the policy takes away the host cannot keep.
    await change(at('a'), at('b'));
    await untilAllowed(call, at('a'), at('b'));
    allow(home, 'b');
    await untilAllowed(call, at('b'));
    assert.match(await call('read_text_file', { path: at('a/f') }), /denied/);
  });
});
