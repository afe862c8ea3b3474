// What stands in examples/ is run as it is, against the built package.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { TestHome } from '../support/serve.ts';
import { makeTree } from '../support/tree.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TREE = [
  'file home/project/f mine',
  'file home/project-old/f old',
  'file home/other/f other',
  'file home/secret hidden',
  'link home/project/out -> ../secret',
  'link home/project/made -> ../planted',
  'link home/project/up -> ..',
  'link home/project/in -> f',
];

interface Files {
  readonly read: (path: string) => Promise<string>;
  readonly write: (path: string, text: string) => Promise<string>;
  /** The client lists these from now on. */
  readonly show: (...paths: readonly string[]) => Promise<void>;
  readonly base: string;
}

type Server = 'hand-written' | 'guarded';

/** Starts one of the two file servers for a client that lists `home/project`. */
async function start(t: TestContext, server: Server, { modern = false } = {}): Promise<Files> {
  const base = makeTree(t, TREE);
  let listed = [join(base, 'home/project')];
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: { roots: { listChanged: true } },
      ...(modern ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {}),
    },
  );
  let told: () => void = () => undefined;
  client.setRequestHandler('roots/list', () => {
    // The answer has left when what comes after it is handled.
    setImmediate(() => told());
    return { roots: listed.map((path) => ({ uri: pathToFileURL(path).href })) };
  });
  const asked = modern ? null : new Promise<void>((resolve) => (told = resolve));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(ROOT, `examples/${server}-server.mjs`)],
    cwd: ROOT,
  });
  await client.connect(transport);
  t.after(() => client.close());
  await asked;
  // Once this is answered, the server has taken up what it was told before.
  if (!modern) await client.ping();
  const call = async (name: string, args: Record<string, string>): Promise<string> => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const [first] = content as { readonly text: string }[];
    return `${isError === true ? 'error: ' : ''}${first?.text}`;
  };
  return {
    base,
    read: (path) => call('read', { path: join(base, path) }),
    write: (path, text) => call('write', { path: join(base, path), text }),
    show: async (...paths) => {
      listed = paths.map((path) => join(base, path));
      if (modern) return;
      const again = new Promise<void>((resolve) => (told = resolve));
      await client.sendRootsListChanged();
      await again;
      await client.ping();
    },
  };
}

interface Trial {
  readonly what: string;
  readonly modern?: boolean;
  /** Holds where the server does as it should. */
  readonly holds: (files: Files) => Promise<boolean>;
  readonly failedByHand?: boolean;
}

const refused = (text: string): boolean => text.startsWith('error: ');

const TRIALS: readonly Trial[] = [
  { what: 'reads in its root', holds: async ({ read }) => (await read('home/project/f')) === 'mine' },
  { what: 'follows a link inside', holds: async ({ read }) => (await read('home/project/in')) === 'mine' },
  { what: 'refuses what lies beside', holds: async ({ read }) => refused(await read('home/other/f')) },
  { what: 'refuses dots that lead out', holds: async ({ base, read }) => refused(await read(`${base}/../x`)) },
  {
    what: 'writes in its root',
    holds: async ({ read, write }) => {
      await write('home/project/new', 'text');
      return (await read('home/project/new')) === 'text';
    },
  },
  {
    what: 'refuses a neighbour whose name begins alike',
    holds: async ({ read }) => refused(await read('home/project-old/f')),
    failedByHand: true,
  },
  {
    what: 'refuses a link that leads out',
    holds: async ({ read }) => refused(await read('home/project/out')),
    failedByHand: true,
  },
  {
    what: 'refuses a directory that is a link out',
    holds: async ({ read }) => refused(await read('home/project/up/secret')),
    failedByHand: true,
  },
  {
    what: 'makes nothing outside through a dangling link',
    holds: async ({ write, show, read }) => {
      await write('home/project/made', 'x');
      await show('home');
      return refused(await read('home/planted'));
    },
    failedByHand: true,
  },
  {
    what: 'refuses what it had before where nothing is listed any more',
    holds: async ({ show, read }) => {
      await show();
      return refused(await read('home/project/f'));
    },
    failedByHand: true,
  },
  {
    what: 'refuses a root that has become a link since it was listed',
    holds: async ({ base, read }) => {
      await read('home/project/f');
      rmSync(join(base, 'home/project'), { recursive: true });
      symlinkSync('other', join(base, 'home/project'));
      return refused(await read('home/project/f'));
    },
    failedByHand: true,
  },
  {
    what: 'reads in its root in revision 2026-07-28',
    modern: true,
    holds: async ({ read }) => (await read('home/project/f')) === 'mine',
    failedByHand: true,
  },
  {
    what: 'keeps to what is listed now in revision 2026-07-28',
    modern: true,
    holds: async ({ show, read }) => {
      await show('home/other');
      return refused(await read('home/project/f')) && (await read('home/other/f')) === 'other';
    },
    failedByHand: true,
  },
];

describe('examples/guarded-server.mjs', () => {
  for (const { what, modern = false, holds } of TRIALS) {
    it(what, async (t) => {
      assert.ok(await holds(await start(t, 'guarded', { modern })));
    });
  }

  it('has half the lines of the server that checks by hand', () => {
    const lines = (name: string) => readFileSync(join(ROOT, 'examples', name), 'utf8').split('\n').length - 1;
    const byHand = lines('hand-written-server.mjs');
    assert.ok(byHand <= 40, `${byHand}`);
    assert.ok(lines('guarded-server.mjs') * 2 <= byHand + 1);
  });
});

describe('examples/hand-written-server.mjs', () => {
  for (const { what, modern = false, holds, failedByHand = false } of TRIALS) {
    it(`${failedByHand ? 'fails where the other' : 'as well'} ${what}`, async (t) => {
      assert.equal(await holds(await start(t, 'hand-written', { modern })), !failedByHand);
    });
  }
});

describe('examples/host.mjs', () => {
  it('reads through its server what the policy allows, and hears of each change', async (t) => {
    const home = new TestHome(t, ['file work/f mine', 'file other/f other']);
    const [work, other] = [join(home.base, 'work'), join(home.base, 'other')];
    const allow = (path: string) => `roots: { place: { path: ${path} } }
rules: [{ id: files, allow: [place], servers: [files], hosts: [example] }]`;
    home.policy(allow(work));
    await home.serve();
    const args = [
      join(ROOT, 'examples/host.mjs'),
      'files',
      process.execPath,
      join(ROOT, 'examples/guarded-server.mjs'),
    ];
    const child = spawn(process.execPath, args, { cwd: ROOT, env: home.env, stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => child.kill());
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const said = async () => (await lines.next()).value;
    const read = (path: string) => {
      child.stdin.write(`${path}/f\n`);
      return said();
    };
    assert.equal(await said(), `files may use ${work}`);
    assert.equal(await read(work), 'mine');
    assert.match(await read(other), /^Cannot use .*lies or leads outside/);
    home.policy(allow(other));
    assert.equal(await said(), `files may use ${other}`);
    assert.match(await read(work), /^Cannot use .*lies or leads outside/);
    assert.equal(await read(other), 'other');
    child.stdin.end();
    assert.deepEqual(await once(child, 'close'), [0, null]);
  });
});
