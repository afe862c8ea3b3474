// Real file servers behind the guard, `bin/rootsd run` and a real daemon.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ARGV_FILESYSTEM, FILESYSTEM } from '../support/real-servers.ts';
import { ROOTSD, TestHome } from '../support/serve.ts';

const TRACING_SERVER = fileURLToPath(new URL('../support/tracing-server.mjs', import.meta.url));
/** The gate asks for 1,000; `ROOTSD_ROUNDS=1000` runs them. */
const ROUNDS = Number(process.env.ROOTSD_ROUNDS ?? 15);
const TREE = [
  'file home/a/f in a',
  'file home/a/secret/f secret',
  'file home/b/f in b',
  'link home/a/way -> secret',
  'link home/a/out -> ../b',
];

/** A policy of these roots (name and settings), all allowed with this access. */
function allow(home: TestHome, roots: Readonly<Record<string, string>>, rest = ''): void {
  const declared = Object.entries(roots).map(([name, settings]) => `  ${name}: { path: ~/${name}${settings} }`);
  const rule = `{ id: files, allow: [${Object.keys(roots)}], servers: [filesystem], access: read-write }`;
  const rules = `rules: [${Object.keys(roots).length === 0 ? '' : `${rule},`} ${rest}]`;
  home.policy([...(declared.length === 0 ? [] : ['roots:', ...declared]), rules].join('\n'));
}

interface Session {
  readonly home: TestHome;
  readonly call: (name: string, args?: Readonly<Record<string, unknown>>) => Promise<string>;
  /** Where a path of the home is. */
  readonly at: (path: string) => string;
}

async function open(
  t: TestContext,
  policy: (home: TestHome) => void,
  command: (home: TestHome) => readonly string[] = () => [process.execPath, FILESYSTEM],
): Promise<Session> {
  const home = new TestHome(t, TREE);
  policy(home);
  await home.serve();
  const client = new Client({ name: 'host', version: '1' });
  const args = [ROOTSD, 'run', '--server', 'filesystem', '--', ...command(home)];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: { ...home.env }, stderr: 'ignore' }),
  );
  t.after(() => client.close());
  await client.listTools();
  const call: Session['call'] = async (name, args = {}) => {
    const { content } = (await client.callTool({ name, arguments: { ...args } })) as { content: { text: string }[] };
    return content[0]?.text ?? '';
  };
  return { home, call, at: (path) => join(home.home, path) };
}

/** Waits until everybody has acknowledged what the files say now. */
async function reload(home: TestHome): Promise<void> {
  const { status, err } = await home.command('reload', '--wait');
  assert.equal(status, 0, err);
}

describe('the reference filesystem server behind the guard', () => {
  it(`reads nothing that was revoked, ${ROUNDS} times`, async (t) => {
    const { home, call, at } = await open(t, (it) => allow(it, { a: '', b: '' }));
    let [stale, fresh] = [0, 0];
    for (let round = 0; round < ROUNDS; round += 1) {
      allow(home, { b: '' });
      await reload(home);
      if ((await call('read_text_file', { path: at('a/f') })) === 'in a') stale += 1;
      allow(home, { a: '', b: '' });
      await reload(home);
      if ((await call('read_text_file', { path: at('a/f') })) === 'in a') fresh += 1;
    }
    assert.deepEqual({ stale, fresh }, { stale: 0, fresh: ROUNDS });
  });

  it(`answers a call right after a change by the new list, ${ROUNDS} times`, async (t) => {
    const { home, call, at } = await open(t, (it) => allow(it, { a: '' }));
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = round % 2 === 0 ? 'b' : 'a';
      allow(home, { [name]: '' });
      await reload(home);
      assert.equal((await call('list_allowed_directories')).split('\n')[1], at(name), `round ${round}`);
    }
  });

  it('sees the rest of a root out of which a denied place is cut', async (t) => {
    const deny = '{ id: keep, deny: [~/a/secret] }';
    const { call, at } = await open(t, (it) => allow(it, { a: ', nested: carve' }, deny));
    assert.equal(await call('read_text_file', { path: at('a/f') }), 'in a');
    for (const path of ['a/secret/f', 'a/way/f', 'a/x/../secret/f', 'a/secret']) {
      assert.match(await call('read_text_file', { path: at(path) }), /^Access denied by rootsd/, path);
    }
  });

  it('writes only where that is allowed, and the project file nowhere', async (t) => {
    const { call, at } = await open(t, (it) => allow(it, { a: '', b: ', access: read-only' }));
    const write = (path: string): Promise<string> => call('write_file', { path: at(path), content: 'x' });
    assert.match(await write('a/new'), /^Successfully/);
    for (const path of ['b/new', 'a/.rootsd.yaml']) assert.match(await write(path), /may only be read/);
    assert.equal(await call('read_text_file', { path: at('b/f') }), 'in b');
  });
});

describe('a call that names a place outside', () => {
  const SERVERS: readonly (readonly [what: string, tool: string, args: readonly string[]])[] = [
    ['the reference filesystem server', 'read_text_file', [FILESYSTEM]],
    ['a filesystem server without roots', 'read_file', [ARGV_FILESYSTEM, '--allowed-directories={roots}']],
  ];
  for (const [what, tool, args] of SERVERS) {
    it(`never reaches ${what}`, async (t) => {
      const trace = (home: TestHome): string => join(home.base, 'trace');
      const { home, call, at } = await open(
        t,
        (it) => allow(it, { a: '' }),
        (it) => [process.execPath, TRACING_SERVER, trace(it), process.execPath, ...args],
      );
      for (const path of ['/etc/passwd', at('b/f'), at('a/../b/f'), at('a/out/f'), `file://${at('b/f')}`]) {
        assert.match(await call(tool, { path }), /^Access denied by rootsd: /, path);
      }
      assert.equal(await call(tool, { path: at('a/f') }), 'in a');
      const seen = readFileSync(trace(home), 'utf8').trim().split('\n');
      const calls = seen.map((line) => JSON.parse(line)).filter(({ method }) => method === 'tools/call');
      assert.deepEqual(
        calls.map(({ params }) => params.arguments.path),
        [at('a/f')],
      );
    });
  }
});
