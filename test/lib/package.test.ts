// What npm would publish, as a TypeScript program of somebody else sees it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../support/tree.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

const OPTIONS = {
  target: 'es2022',
  lib: ['es2022', 'esnext.disposable'],
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  types: ['node'],
};

/** Uses all of `rootsd/server` with what it needs and no SDK. */
const SERVER = `
import { type Access, type AnyServer, type GuardedRoot, type OpenFlags, RootsError, RootsGuard } from 'rootsd/server';
export async function use(server: AnyServer, access: Access, flags: OpenFlags): Promise<string[]> {
  const guard = new RootsGuard(server, { directories: ['/srv'], deadlineMs: 100 });
  guard.on('change', (roots: readonly GuardedRoot[]) => roots.map(({ name }) => name.length));
  guard.on('warning', (sentence) => sentence.length);
  const file = await guard.open(await guard.resolve('/a', { access }), flags, 0o600);
  await file.close();
  const double = guard.handler((n: number, _context: object) => n * 2);
  const doubled: number = await double(2, {});
  const error: unknown = doubled;
  return error instanceof RootsError ? [error.code, error.message] : guard.complete('/');
}
// @ts-expect-error: there is no such access
export const wrong: Access = 'write-only';
`;

/** And of `rootsd/host`. */
const HOST = `
import {
  type Access, type Completer, type CompleterOptions, type Completion, type CompletionRequest, connectRoots, type ConnectOptions,
  type LiveRoot, type LiveRoots, RootsError, type SdkClient,
} from 'rootsd/host';
export async function use(client: SdkClient, request: CompletionRequest): Promise<readonly string[]> {
  const options: ConnectOptions = { server: 's', host: 'h', socket: '/s', deadlineMs: 1 };
  using roots: LiveRoots = await connectRoots(options);
  roots.on('change', (now: readonly LiveRoot[]) => now.map(({ access }): Access => access));
  roots.install(client);
  const settings: CompleterOptions = { debounceMs: 1 };
  const completer: Completer = roots.completer(client, settings);
  const completion: Completion | null = await completer.complete(request);
  const error: unknown = roots.connected;
  return error instanceof RootsError ? [error.code] : (completion?.values ?? []);
}
// @ts-expect-error: a server must be named
connectRoots({ host: 'h' });
`;

/** The classes of both SDKs are what the libraries take, and what handler() gives is what they take. */
const SERVERS = `
import { McpServer as Old } from '@modelcontextprotocol/sdk/server/mcp.js';
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import { fromJsonSchema, McpServer, Server } from '@modelcontextprotocol/server';
import { RootsGuard } from 'rootsd/server';
const name = { name: 'a', version: '1' };
const old = new Old(name);
const guard = new RootsGuard(old);
old.registerTool('t', {}, guard.handler(async (_extra) => ({ content: [{ type: 'text', text: 'x' }] })));
new RootsGuard(new OldServer(name));
const mcp = new McpServer(name);
const inputSchema = fromJsonSchema<{ path: string }>({ type: 'object', properties: { path: { type: 'string' } } });
const other = new RootsGuard(mcp);
mcp.registerTool('t', { inputSchema }, other.handler(async ({ path }, _context) => {
  return { content: [{ type: 'text' as const, text: await other.resolve(path) }] };
}));
new RootsGuard(new Server(name));
`;

const CLIENTS = `
import { Client as Old } from '@modelcontextprotocol/sdk/client/index.js';
import { Client } from '@modelcontextprotocol/client';
import { connectRoots } from 'rootsd/host';
const name = { name: 'a', version: '1' };
const roots = await connectRoots({ server: 's' });
for (const client of [new Old(name), new Client(name)]) {
  roots.install(client);
  await roots.completer(client).complete({
    ref: { type: 'ref/resource', uri: 'file:///{+path}' },
    argument: { name: 'path', value: '' },
    context: { arguments: {} },
  });
}
`;

/** Unpacks the package where a program would have it; the modules that it may need beside it are ours. */
function install(directory: string): void {
  const modules = join(directory, 'node_modules');
  mkdirSync(modules);
  for (const name of ['@modelcontextprotocol', '@types', 'undici-types', 'zod']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  const packed = run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', directory], ROOT);
  const [{ filename }] = JSON.parse(packed) as [{ readonly filename: string }];
  run('tar', ['-xzf', filename], directory);
  symlinkSync(join(directory, 'package'), join(modules, 'rootsd'));
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module' }));
}

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

function compile(directory: string, name: string, text: string, options: object): void {
  const config = join(directory, name, 'tsconfig.json');
  mkdirSync(dirname(config));
  writeFileSync(join(directory, name, 'index.ts'), text);
  writeFileSync(config, JSON.stringify({ compilerOptions: { ...OPTIONS, ...options }, files: ['index.ts'] }));
  run(process.execPath, [TSC, '-p', config], directory);
}

describe('the packed package', () => {
  const directory = temporaryDirectory({ after: (hook) => after(hook as () => void) });
  before(() => install(directory));

  it('has types for rootsd/server that stand by themselves', () => {
    compile(directory, 'server', SERVER, { skipLibCheck: false });
  });

  it('has types for rootsd/host that stand by themselves', () => {
    compile(directory, 'host', HOST, { skipLibCheck: false });
  });

  it('takes the clients of both SDKs', () => {
    compile(directory, 'clients', CLIENTS, { skipLibCheck: true });
  });

  it('takes the servers of both SDKs', () => {
    compile(directory, 'servers', SERVERS, { skipLibCheck: true });
  });

  it('has one class of errors for both libraries', () => {
    const both = "import { RootsError } from 'rootsd/host'; import * as server from 'rootsd/server';";
    const print = 'console.log(RootsError === server.RootsError)';
    assert.equal(run(process.execPath, ['--input-type=module', '-e', `${both} ${print}`], directory), 'true\n');
  });

  it('has libraries that load no package, and nothing but Node', () => {
    const alone = join(directory, 'alone/node_modules');
    mkdirSync(alone, { recursive: true });
    run('cp', ['-r', join(directory, 'package'), join(alone, 'rootsd')], directory);
    for (const [library, names] of [
      ['host', 'RootsError,connectRoots'],
      ['server', 'RootsError,RootsGuard'],
    ] as const) {
      const list = `import('rootsd/${library}').then((all) => console.log(Object.keys(all).sort().join()))`;
      assert.equal(run(process.execPath, ['-e', list], dirname(alone)), `${names}\n`);
    }
  });
});
