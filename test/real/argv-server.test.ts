// A server that has never heard of roots and takes its directories by its command line alone, as most do.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ARGV_FILESYSTEM } from '../support/real-servers.ts';
import { ROOTSD, TestHome } from '../support/serve.ts';

const TREE = ['file home/a/f in a', 'file home/b/f in b', 'file home/c/f in c', 'link home/a/out -> ../c'];

interface Host {
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<string>;
  /** How often the server has been started. */
  readonly starts: () => number;
  readonly isClosed: () => boolean;
}

async function connect(t: TestContext, home: TestHome, args: readonly string[]): Promise<Host> {
  const command = [ROOTSD, 'run', '--server', 'files', '--', process.execPath, ARGV_FILESYSTEM, ...args];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: command,
    env: { ...home.env },
    stderr: 'pipe',
  });
  const seen = { stderr: '', closed: false };
  transport.stderr?.on('data', (chunk: Buffer) => {
    seen.stderr += chunk;
  });
  const client = new Client({ name: 'host', version: '1' });
  client.onclose = () => {
    seen.closed = true;
  };
  await client.connect(transport);
  t.after(() => client.close());
  return {
    async call(name, given = {}) {
      const { content } = (await client.callTool({ name, arguments: given })) as { content: { text: string }[] };
      return content[0]?.text ?? '';
    },
    starts: () => seen.stderr.split('Allowed directories:').length - 1,
    isClosed: () => seen.closed,
  };
}

function allow(home: TestHome, ...names: readonly string[]): void {
  const roots = names.map((name) => `  ${name}: { path: ~/${name} }`);
  const rule = `rules: [{ id: files, allow: [${names}], servers: [files], access: read-write }]`;
  home.policy(names.length === 0 ? 'servers: { files: { roots: on } }' : ['roots:', ...roots, rule].join('\n'));
}

async function untilAllowed({ call }: Host, matches: string | RegExp): Promise<void> {
  for (;;) {
    const listed = (await call('list_allowed_directories')).split('\n').slice(1).join('\n');
    if (typeof matches === 'string' ? listed === matches : matches.test(listed)) return;
  }
}

describe('a real server without roots, by {roots}', () => {
  it('has never heard of roots', () => {
    const directory = dirname(ARGV_FILESYSTEM);
    for (const file of ['index.cjs', 'server.cjs']) {
      assert.doesNotMatch(readFileSync(join(directory, file), 'utf8'), /roots\/list|listRoots/);
    }
  });

  it("sees exactly the policy's roots, and every change, while the host keeps its session", async (t) => {
    const home = new TestHome(t, TREE);
    const at = (path: string): string => join(home.home, path);
    allow(home, 'a', 'b');
    await home.serve();
    const host = await connect(t, home, ['--allowed-directories={roots}']);
    const read = (path: string): Promise<string> => host.call('read_file', { path: at(path) });
    await untilAllowed(host, `${at('a')}\n${at('b')}`);
    assert.deepEqual([await read('a/f'), await read('b/f')], ['in a', 'in b']);
    for (const outside of ['c/f', 'a/../c/f', 'a/out/f', '../../etc/passwd']) {
      assert.match(await read(outside), /denied|does not exist/, outside);
    }
    assert.equal(host.starts(), 1);

    allow(home, 'b', 'c');
    await untilAllowed(host, `${at('b')}\n${at('c')}`);
    assert.equal(await read('c/f'), 'in c');
    assert.match(await read('a/f'), /denied/);

    rmSync(at('c'), { recursive: true });
    await untilAllowed(host, at('b'));
    mkdirSync(at('c'));
    writeFileSync(at('c/f'), 'in another c');
    await untilAllowed(host, `${at('b')}\n${at('c')}`);
    assert.equal(await read('c/f'), 'in another c');

    allow(home);
    await untilAllowed(host, /^\S*\/empty(-[0-9a-f]+)?$/);
    for (const gone of ['a/f', 'b/f', 'c/f', '../../etc/passwd']) assert.match(await read(gone), /denied/, gone);
    assert.deepEqual([host.starts(), host.isClosed()], [5, false]);
  });

  it('is started anew for nothing that does not concern its command line', async (t) => {
    const home = new TestHome(t, TREE);
    allow(home, 'a');
    const daemon = await home.serve();
    const host = await connect(t, home, ['--allowed-directories={roots}']);
    await untilAllowed(host, join(home.home, 'a'));
    home.policy('rules: [{ id: others, deny: [~/b], servers: [other] }]', 'user', 'z.yaml');
    await daemon.logged('layer activated', 2);
    allow(home, 'a', 'b');
    await untilAllowed(host, `${home.home}/a\n${home.home}/b`);
    assert.equal(host.starts(), 2);
  });

  it('gets one root by name, and another directory in its place where that is not allowed', async (t) => {
    const home = new TestHome(t, TREE);
    allow(home, 'a', 'b');
    await home.serve();
    const host = await connect(t, home, ['--allowed-directories={root:b}', '--allowed-directories', '{primary}']);
    await untilAllowed(host, `${home.home}/b\n${home.home}/a`);
    allow(home, 'a');
    await untilAllowed(host, new RegExp(`^\\S*/empty(-[0-9a-f]+)?\n${home.home}/a$`));
  });
});
