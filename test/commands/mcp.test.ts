// `rootsd mcp` as hosts start it: by the SDK of either generation.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { outcomeOf, ROOTSD, TestHome } from '../support/serve.ts';

const CLIENT = { name: 'test', version: '1' };

function homeOf(t: TestContext): TestHome {
  const home = new TestHome(t, ['file home/app/a.ts hello']);
  home.policy('roots: { app: { path: ~/app } }\nrules: [{ id: a, allow: [app], servers: [x], hosts: [h] }]\n');
  return home;
}

function command(home: TestHome) {
  return { command: process.execPath, args: [ROOTSD, 'mcp', '--server', 'x', '--host', 'h'], env: { ...home.env } };
}

test('rootsd mcp serves a client of the first SDK', async (t) => {
  const home = homeOf(t);
  await home.serve();
  const client = new Client(CLIENT);
  await client.connect(new StdioClientTransport(command(home)));
  t.after(() => client.close());
  assert.equal(client.getServerVersion()?.name, 'rootsd');
  const uri = `file://${home.home}/app`;
  assert.deepEqual(
    (await client.listResources()).resources.map((resource) => resource.uri),
    [uri],
  );
  assert.deepEqual((await client.readResource({ uri: `${uri}/a.ts` })).contents, [
    { uri: `${uri}/a.ts`, mimeType: 'text/plain', text: 'hello' },
  ]);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['list_roots', 'check_path', 'request_access'],
  );
  // The SDK holds what comes against the output schemas.
  for (const { name } of tools) await client.callTool({ name, arguments: name === 'list_roots' ? {} : { path: '/x' } });
});

for (const mode of ['legacy', 'auto', 'modern'] as const) {
  test(`rootsd mcp serves a client of the second SDK that opens ${mode}`, async (t) => {
    const home = homeOf(t);
    await home.serve();
    const negotiation = mode === 'modern' ? { pin: '2026-07-28' } : mode;
    const client = new ModernClient(CLIENT, { versionNegotiation: { mode: negotiation } });
    await client.connect(new ModernTransport(command(home)));
    t.after(() => client.close());
    const uri = `file://${home.home}/app`;
    const [resource] = (await client.listResources()).resources;
    assert.equal(resource?.uri, uri);
    const { tools } = await client.listTools();
    for (const { name } of tools) {
      const { structuredContent } = await client.callTool({
        name,
        arguments: name === 'list_roots' ? {} : { path: '/x' },
      });
      assert.notEqual(structuredContent, undefined);
    }
  });
}

test('rootsd mcp ends with its host, and with 0', async (t) => {
  const home = homeOf(t);
  const daemon = await home.serve();
  const child = home.start(['mcp']);
  const ended = outcomeOf(child);
  await daemon.logged('peer attached');
  child.stdin?.end();
  assert.deepEqual(await ended, { status: 0, out: '', err: '' });
  await daemon.logged('peer detached');
});

test('rootsd mcp ends with 69 and says why where no daemon answers, or the daemon goes', async (t) => {
  const home = homeOf(t);
  const alone = await home.run('mcp');
  assert.deepEqual([alone.status, alone.out], [69, '']);
  assert.match(alone.err, /Cannot reach the daemon/);
  const daemon = await home.serve();
  const left = outcomeOf(home.start(['mcp']));
  await daemon.logged('peer attached');
  await daemon.kill('SIGTERM');
  const { status, out, err } = await left;
  assert.deepEqual([status, out], [69, '']);
  assert.match(err, /it has ended the connection/);
});

test('rootsd mcp refuses a name that is none', async (t) => {
  const home = homeOf(t);
  await home.serve();
  const { status, out, err } = await home.run('mcp', '--server', 'a\nb');
  assert.deepEqual([status, out], [64, '']);
  assert.match(err, /"server" must have/);
});
