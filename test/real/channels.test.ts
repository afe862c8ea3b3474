// Real servers, each told by what the catalogue says of it: it sees the boundary, a change reaches it, and a call outside is
// refused before it sees the call.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { EVERYTHING, GIT, MEMORY, MEMORY_BANK } from '../support/real-servers.ts';
import { OBEDIENT_SERVER, RunHost } from '../support/run-host.ts';
import { ROOTSD, TestHome } from '../support/serve.ts';

interface Called {
  readonly text: string;
  readonly isError: boolean;
}

interface Host {
  readonly home: TestHome;
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<Called>;
  /** Allows other directories; resolves when the server has them. */
  readonly allow: (...names: readonly string[]) => Promise<void>;
}

/** A server behind `run` behind a host, with a daemon that allows `a` of the directories `a` and `b`. */
async function connect(t: TestContext, program: string): Promise<Host> {
  const home = new TestHome(t, ['dir home/a', 'dir home/b', 'dir home/c']);
  allow(home, 'a');
  await home.serve();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [ROOTSD, 'run', '--server', 's', '--', process.execPath, program],
    env: { ...home.env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'host', version: '1' });
  await client.connect(transport);
  t.after(() => client.close());
  await client.listTools();
  return {
    home,
    async call(name, given = {}) {
      const result = await client.callTool({ name, arguments: given });
      const [first] = result.content as readonly { readonly text?: string }[];
      return { text: first?.text ?? '', isError: result.isError === true };
    },
    async allow(...names) {
      allow(home, ...names);
      // A server that is started again on a busy machine may take longer than one command waits.
      const reload = () => home.json<{ sessions: { late: number } }>('reload', '--wait');
      for (let late = 1; late > 0; ) late = (await reload()).sessions.late;
    },
  };
}

function allow(home: TestHome, ...names: readonly string[]): void {
  const roots = names.map((name) => `  ${name}: { path: ~/${name} }`);
  const rule = `rules: [{ id: r, allow: [${names}], servers: [s], access: read-write }]`;
  home.policy(names.length === 0 ? 'servers: { s: { roots: on } }' : ['roots:', ...roots, rule].join('\n'));
}

/** Whoever answers so is we: the server has not seen the call. */
function assertRefused({ text, isError }: Called): void {
  assert.ok(isError && text.startsWith('Access denied by rootsd: '), text);
}

describe('the reference server "everything", told by roots', () => {
  it('sees the boundary and follows a change', async (t) => {
    const { home, call, allow: allowOther } = await connect(t, EVERYTHING);
    const listed = async () => (await call('get-roots-list')).text.match(/file:\/\/\S+/g);
    assert.deepEqual(await listed(), [`file://${home.home}/a`]);
    await allowOther('a', 'b');
    assert.deepEqual(await listed(), [`file://${home.home}/a`, `file://${home.home}/b`]);
    await allowOther('b');
    assert.deepEqual(await listed(), [`file://${home.home}/b`]);
  });

  it('does not see a call that names a path outside', async (t) => {
    const { home, call } = await connect(t, EVERYTHING);
    assertRefused(await call('echo', { message: 'x', path: `${home.home}/c/f` }));
    assert.equal((await call('echo', { message: 'x', path: `${home.home}/a/f` })).isError, false);
  });
});

describe('the reference server "memory", told by a variable', () => {
  it('keeps its file in the first root, and in another when that changes', async (t) => {
    const { home, call, allow: allowOther } = await connect(t, MEMORY);
    const remember = (name: string) =>
      call('create_entities', { entities: [{ name, entityType: 'x', observations: [] }] });
    await remember('first');
    assert.match(readFileSync(`${home.home}/a/memory.jsonl`, 'utf8'), /"first"/);
    await allowOther('b');
    await remember('second');
    assert.match(readFileSync(`${home.home}/b/memory.jsonl`, 'utf8'), /"second"/);
    assert.equal(readFileSync(`${home.home}/a/memory.jsonl`, 'utf8').includes('second'), false);
  });

  it('writes nowhere once nothing is allowed', async (t) => {
    const { home, call, allow: allowOther } = await connect(t, MEMORY);
    await allowOther();
    const { isError } = await call('create_entities', { entities: [{ name: 'n', entityType: 'x', observations: [] }] });
    // Root writes where a mode says no: what stands for nothing is a directory of ours, and none of the home.
    if (process.getuid?.() !== 0) assert.equal(isError, true);
    assert.equal(existsSync(`${home.home}/a/memory.jsonl`), false);
  });

  it('does not see a call that names a path outside', async (t) => {
    const { home, call } = await connect(t, MEMORY);
    assertRefused(await call('search_nodes', { query: 'x', file: `${home.home}/c/f` }));
  });
});

describe('the server "memory bank", told by a variable', () => {
  it('keeps its projects in the first root, and in another when that changes', async (t) => {
    const { home, call, allow: allowOther } = await connect(t, MEMORY_BANK);
    const write = (projectName: string) => call('memory_bank_write', { projectName, fileName: 'n.md', content: 'x' });
    await write('first');
    assert.ok(existsSync(`${home.home}/a/first/n.md`));
    await allowOther('b');
    assert.equal((await call('list_projects')).text.includes('first'), false);
    await write('second');
    assert.ok(existsSync(`${home.home}/b/second/n.md`));
  });

  it('does not see a call that names a path outside', async (t) => {
    const { home, call } = await connect(t, MEMORY_BANK);
    assertRefused(await call('list_project_files', { projectName: 'p', path: `${home.home}/c` }));
  });
});

describe('the server "git" of cyanheads, told by a variable', () => {
  it('takes repositories of the first root alone, and of another when that changes', async (t) => {
    const { home, call, allow: allowOther } = await connect(t, GIT);
    for (const name of ['a', 'b']) {
      mkdirSync(`${home.home}/${name}/repo`);
      execFileSync('git', ['init', '-q', `${home.home}/${name}/repo`]);
    }
    const status = (name: string) => call('git_status', { path: `${home.home}/${name}/repo` });
    assert.match((await status('a')).text, /isClean/);
    assertRefused(await status('b'));
    await allowOther('b');
    assert.match((await status('b')).text, /isClean/);
    assertRefused(await status('a'));
    // Its own limit, which is what the variable says: both are allowed, the first is the one that it takes.
    await allowOther('a', 'b');
    assert.match((await status('a')).text, /isClean/);
    const { text, isError } = await status('b');
    assert.ok(isError && /traversal/.test(text), text);
  });
});

describe('a server that is told by a file of its settings', () => {
  it('is told by the built program, which loads the editors of such files from where they are', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    const file = `${home.base}/settings.yaml`;
    const before = '# mine\nfiles:\n  allowed: [/]\n';
    writeFileSync(file, before);
    const channel = `{ kind: config, path: ${file}, key: [files, allowed], format: yaml, empty: everything }`;
    home.policy(
      `roots: { a: { path: ~/a } }\nservers: { s: { channels: [${channel}] } }\nrules: [{ id: r, allow: [a], servers: [s] }]\n`,
    );
    await home.serve();
    const args = ['run', '--server', 's', '--', process.execPath, OBEDIENT_SERVER];
    const host = new RunHost(t, { program: ROOTSD, args, env: home.env });
    await host.initialize();
    assert.equal(readFileSync(file, 'utf8'), `# mine\nfiles:\n  allowed:\n    - ${home.home}/a\n`);
    host.process.stdin?.end();
    await host.ended;
    assert.equal(readFileSync(file, 'utf8'), before);
  });
});
