// What stands in docs/ as code is run as it is, against the built package, with what it leaves to the reader before and behind it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ROOTSD, TestHome } from '../support/serve.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The blocks of a language on a page, of which there must be so many. */
function blocks(page: string, language: string, count: number): readonly string[] {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8');
  const found = [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, body = '']) => body,
  );
  assert.equal(found.length, count, `${page}: a block that nobody runs`);
  return found;
}

/** Writes a module where the package is installed; its path. */
function moduleOf(t: TestContext, ...parts: readonly string[]): string {
  const directory = temporaryDirectory(t);
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(ROOT, join(directory, 'node_modules/rootsd'));
  symlinkSync(join(ROOT, 'node_modules/@modelcontextprotocol'), join(directory, 'node_modules/@modelcontextprotocol'));
  const path = join(directory, 'module.mjs');
  writeFileSync(path, parts.join('\n'));
  return path;
}

/** A client that lists these directories, connected to a module that is a server. */
async function connectTo(
  t: TestContext,
  path: string,
  directories: readonly string[],
  { modern = false } = {},
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: { roots: { listChanged: true } },
      ...(modern ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {}),
    },
  );
  client.setRequestHandler('roots/list', () => ({
    roots: directories.map((root) => ({ uri: pathToFileURL(root).href })),
  }));
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [path] }));
  t.after(() => client.close());
  return client;
}

async function textOf(client: Client, path: string): Promise<string> {
  const { content } = await client.callTool({ name: 'read', arguments: { path } });
  return (content as { readonly text: string }[])[0]?.text ?? '';
}

describe('docs/lib-server.md', () => {
  const [server = '', complete = ''] = blocks('lib-server.md', 'js', 2);
  const schema = `import { fromJsonSchema } from '@modelcontextprotocol/server';
const inputSchema = fromJsonSchema({ type: 'object', properties: { path: { type: 'string' } }, required: ['path'] });`;

  for (const modern of [false, true]) {
    it(`shows a server that keeps to its roots, revision ${modern ? '2026-07-28' : 'up to 2025-11-25'}`, async (t) => {
      const base = makeTree(t, ['file frontend/f mine', 'file other/f other']);
      const client = await connectTo(t, moduleOf(t, schema, server), [join(base, 'frontend')], { modern });
      assert.equal(await textOf(client, join(base, 'frontend/f')), 'mine');
      const [told = ''] = blocks('lib-server.md', 'text', 1);
      const expected = told
        .trim()
        .replace('/home/ana/.ssh/config', join(base, 'other/f'))
        .replace('/home/ana/repos/frontend', join(base, 'frontend'));
      assert.equal(await textOf(client, join(base, 'other/f')), expected);
    });
  }

  it('shows how a template of a resource is completed', async (t) => {
    const base = makeTree(t, ['file root/a#1', 'file out/a']);
    const path = moduleOf(
      t,
      `import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { RootsGuard } from 'rootsd/server';
serveStdio(() => {
  const mcp = new McpServer({ name: 'files', version: '1' });
  const guard = new RootsGuard(mcp);`,
      complete,
      `  const template = new ResourceTemplate('file:///{+path}', { list: undefined, complete: { path: complete } });
  mcp.registerResource('file', template, {}, async () => ({ contents: [] }));
  return mcp;
});`,
    );
    const client = await connectTo(t, path, [join(base, 'root')]);
    const ref = { type: 'ref/resource', uri: 'file:///{+path}' } as const;
    const values = async (value: string) =>
      (await client.complete({ ref, argument: { name: 'path', value } })).completion.values;
    assert.deepEqual(await values(`${base.slice(1)}/root/`), [`${base.slice(1)}/root/a%231`]);
    assert.deepEqual(await values(`${base.slice(1)}/out/`), []);
  });
});

describe('docs/lib-host.md', () => {
  const [host = '', completer = ''] = blocks('lib-host.md', 'js', 2);

  it('shows a host whose server has its roots, and completion in it', async (t) => {
    const home = new TestHome(t, [
      'file home/frontend/src/main.ts x',
      'file home/frontend/src/other.ts x',
      'dir home/more',
    ]);
    const policy = (...allowed: readonly string[]) =>
      home.policy(`roots: { frontend: { path: ~/frontend }, more: { path: ~/more } }
rules: [{ id: all, allow: [${allowed}] }]
prompts:
  review:
    arguments: { project: { roots: true }, file: { paths: files, within: project } }
    template: Review {file}
`);
    policy('frontend');
    await home.serve();
    const path = moduleOf(
      t,
      `import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
const env = process.env;
const transport = new StdioClientTransport({ command: process.execPath, args: [${JSON.stringify(ROOTSD)}, 'mcp'], env });
const show = (...shown) => console.log(JSON.stringify(shown));`,
      host,
      'show(roots.roots.map(({ name }) => name));',
      completer,
      'process.stdin.once("end", async () => { await client.close(); roots.close(); }).resume();',
    );
    const child = spawn(process.execPath, [path], { env: home.env, stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => child.kill());
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const shown = async () => JSON.parse((await lines.next()).value);
    assert.deepEqual(await shown(), [['frontend']]);
    assert.deepEqual(await shown(), [[join(home.home, 'frontend/src/main.ts')], false]);
    policy('frontend', 'more');
    const [now] = await shown();
    assert.deepEqual(
      now.map(({ name }: { readonly name: string }) => name),
      ['frontend', 'more'],
    );
    child.stdin.end();
    assert.deepEqual(await once(child, 'close'), [0, null]);
  });
});

describe('docs/endpoint.md', () => {
  const [configuration = ''] = blocks('endpoint.md', 'json', 1);

  it('shows how a host starts the endpoint, which gets a root by "rootsd allow"', async (t) => {
    const home = new TestHome(t, ['dir home/app']);
    home.policy('roots: {}\n');
    await home.serve();
    const { command, args } = JSON.parse(configuration).mcpServers.roots;
    assert.equal(command, 'rootsd');
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [ROOTSD, ...args], env: { ...home.env } }),
    );
    t.after(() => client.close());
    assert.deepEqual((await client.listResources()).resources, []);
    const heard = new Promise<void>((resolve) => {
      client.setNotificationHandler('notifications/resources/list_changed', () => resolve());
    });
    const { status, err } = await home.run('allow', join(home.home, 'app'), '--server', 'rootsd');
    assert.equal(status, 0, err);
    await heard;
    const { resources } = await client.listResources();
    assert.deepEqual(
      resources.map(({ uri }) => uri),
      [`file://${home.home}/app`],
    );
  });
});
