// A server of the SDK 2.x, whose tools ask for roots within their results, behind `bin/rootsd run` and a real daemon.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioClientTransport2 } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Latch } from '../../src/core/latch.ts';
import { identifyProcess } from '../../src/run/processes.ts';
import { FILESYSTEM } from '../support/real-servers.ts';
import { ROOTSD, TestHome } from '../support/serve.ts';

const ASKING = fileURLToPath(new URL('../support/both-eras-server.mjs', import.meta.url));
const INFO = { name: 'host', version: '1' };
const MODERN = '2026-07-28';

type Negotiation = 'auto' | { readonly pin: string };

/** What a tool says. */
interface Said {
  readonly uris?: readonly string[];
  readonly name?: string;
  readonly state?: string;
  readonly text?: string;
}

async function serve(t: TestContext): Promise<TestHome> {
  const home = new TestHome(t, ['dir home/a', 'dir home/b']);
  allow(home, 'a', 'b');
  await home.serve();
  return home;
}

function allow(home: TestHome, ...names: readonly string[]): void {
  const roots = names.map((name) => `  ${name}: { path: ~/${name} }`);
  home.policy(['roots:', ...roots, `rules: [{ id: asking, allow: [${names}], servers: [asking] }]`].join('\n'));
}

const urisOf = (home: TestHome, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `file://${join(home.home, name)}`);

function commandOf(home: TestHome, server = ASKING) {
  const args = [ROOTSD, 'run', '--server', 'asking', '--', process.execPath, server];
  return { command: process.execPath, args, env: { ...home.env }, stderr: 'ignore' } as const;
}

interface ModernHost {
  readonly mode: Negotiation;
  readonly capabilities?: object;
  readonly options?: object;
  readonly prepare?: (client: Client2) => void;
  readonly env?: Readonly<Record<string, string>>;
}

async function connectModern(
  t: TestContext,
  home: TestHome,
  { mode, capabilities = {}, options = {}, prepare, env = {} }: ModernHost,
): Promise<Client2> {
  const client = new Client2(INFO, { ...options, capabilities, versionNegotiation: { mode } });
  prepare?.(client);
  const command = commandOf(home);
  await client.connect(new StdioClientTransport2({ ...command, env: { ...command.env, ...env } }));
  t.after(() => client.close());
  return client;
}

async function call(client: Client | Client2, name: string, args: Record<string, unknown> = {}): Promise<Said> {
  const { content } = (await client.callTool({ name, arguments: args })) as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '') as Said;
}

describe('a server of the SDK 2.x that asks for roots within its results', () => {
  it('gets those of the policy behind a host of the legacy era', async (t) => {
    const home = await serve(t);
    const client = new Client(INFO);
    await client.connect(new StdioClientTransport({ ...commandOf(home), args: [...commandOf(home).args] }));
    t.after(() => client.close());
    assert.deepEqual((await call(client, 'where')).uris, urisOf(home, 'a', 'b'));
    allow(home, 'b');
    await untilTold(client, urisOf(home, 'b'));
  });

  it('gets those of the policy behind a host of revision 2026-07-28 that has none, and every change', async (t) => {
    const home = await serve(t);
    const client = await connectModern(t, home, { mode: { pin: MODERN } });
    assert.equal(client.getNegotiatedProtocolVersion(), MODERN);
    assert.deepEqual(await call(client, 'where'), { uris: urisOf(home, 'a', 'b'), state: 'é "x"' });
    mkdirSync(join(home.home, 'c'));
    allow(home, 'b', 'c');
    await untilTold(client, urisOf(home, 'b', 'c'));
    allow(home, 'c');
    await untilTold(client, urisOf(home, 'c'));
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(client, 'where')));
    for (const { uris } of answers) assert.deepEqual(uris, urisOf(home, 'c'));
    const text = '世é😀"x'.repeat(200_000);
    assert.equal((await call(client, 'echo', { text })).text, text);
  });

  it('gets them beside what the host is asked in the same round', async (t) => {
    const home = await serve(t);
    const asked: string[] = [];
    const client = await connectModern(t, home, {
      mode: { pin: MODERN },
      capabilities: { elicitation: { form: {} } },
      prepare: (host) =>
        host.setRequestHandler('elicitation/create', ({ params }) => {
          asked.push(params.message);
          return { action: 'accept', content: { name: 'Ana' } };
        }),
    });
    assert.deepEqual(await call(client, 'who'), { uris: urisOf(home, 'a', 'b'), name: 'Ana' });
    assert.deepEqual(await call(client, 'who'), { uris: urisOf(home, 'a', 'b'), name: 'Ana' });
    assert.deepEqual(asked, ['Who?', 'Who?']);
  });

  it('gets those of the policy that a host of revision 2026-07-28 offers itself', async (t) => {
    const home = await serve(t);
    const host = { uris: [...urisOf(home, 'b'), 'file:///etc'] };
    const client = await connectModern(t, home, {
      mode: { pin: MODERN },
      capabilities: { roots: {}, elicitation: { form: {} } },
      prepare: (it) => {
        it.setRequestHandler('roots/list', () => ({ roots: host.uris.map((uri) => ({ uri })) }));
        it.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ana' } }));
      },
    });
    assert.deepEqual((await call(client, 'where')).uris, urisOf(home, 'b'));
    assert.deepEqual((await call(client, 'who')).uris, urisOf(home, 'b'));
    host.uris = ['file:///'];
    assert.deepEqual((await call(client, 'where')).uris, urisOf(home, 'a', 'b'));
    allow(home, 'a');
    await untilTold(client, urisOf(home, 'a'));
  });

  it('is listened to by a host of revision 2026-07-28', async (t) => {
    const home = await serve(t);
    const changed = new Latch();
    const listChanged = { tools: { onChanged: () => changed.set() } };
    const client = await connectModern(t, home, { mode: { pin: MODERN }, options: { listChanged } });
    await call(client, 'grow');
    await changed.reached;
    assert.ok((await client.listTools()).tools.some(({ name }) => name === 'late'));
  });

  it('is probed by a host that starts it twice: the probe ends at once, tells nothing and leaves nothing', async (t) => {
    const home = await serve(t);
    const pids = join(home.base, 'pids');
    const client = await connectModern(t, home, { mode: 'auto', env: { PIDS: pids } });
    assert.equal(client.getNegotiatedProtocolVersion(), MODERN);
    assert.deepEqual((await call(client, 'where')).uris, urisOf(home, 'a', 'b'));
    const [probe, kept, ...none] = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
    assert.deepEqual(none, []);
    assert.ok(probe !== undefined && kept !== undefined);
    while (identifyProcess(probe) !== null) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.ok(identifyProcess(kept));
    for (;;) {
      const { sessions } = JSON.parse((await home.run('sessions', '--json')).out) as { sessions: unknown[] };
      if (sessions.length === 1) break;
    }
  });
});

describe('a server of the legacy era', () => {
  it('gets its roots behind a host that asks first which era it speaks', async (t) => {
    const home = await serve(t);
    const client = new Client2(INFO, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StdioClientTransport2(commandOf(home, FILESYSTEM)));
    t.after(() => client.close());
    assert.notEqual(client.getNegotiatedProtocolVersion(), MODERN);
    const wanted = [join(home.home, 'a'), join(home.home, 'b')].join('\n');
    for (;;) {
      const { content } = (await client.callTool({ name: 'list_allowed_directories' })) as {
        content: { text: string }[];
      };
      if (content[0]?.text.endsWith(wanted)) break;
    }
  });
});

/** Asks until the tool says so: a change takes its time. */
async function untilTold(client: Client | Client2, uris: readonly string[]): Promise<void> {
  while (JSON.stringify((await call(client, 'where')).uris) !== JSON.stringify(uris));
}
