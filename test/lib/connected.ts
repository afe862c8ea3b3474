// A server and a client of the real SDKs, connected within this process.
import type { TestContext } from 'node:test';
import { Client as ModernClient, InMemoryTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as OldTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolResultSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { McpServer as ModernServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { SdkClient, SdkServer } from '../../src/lib/sdk.ts';

export const SDKS = ['1.x', '2.x, legacy', '2.x, modern'] as const;
export type Sdk = (typeof SDKS)[number];
export const LEGACY = SDKS.filter((sdk) => sdk !== '2.x, modern');

const NAME = { name: 'test', version: '1' };
const ROOTS = { roots: { listChanged: true } };

export interface Root {
  readonly uri: unknown;
  readonly name?: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export type Run = (args: never, context: unknown) => Promise<unknown>;

export interface Connected {
  /** Calls the one tool that the server has; gives its text. An error of the tool is `error: …`. */
  readonly call: () => Promise<string>;
  /** The client's list is another one. */
  readonly changed: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface ConnectOptions {
  /** Answers `roots/list`; null: the client offers no roots by itself. */
  readonly list: (() => unknown) | null;
  /** What the client is given before it is connected. */
  readonly install?: (client: SdkClient) => void;
  /** What the server is given beside the tool. */
  readonly setUp: (server: { readonly server: SdkServer }) => Run;
}

/** Connects a client to a server that has one tool. */
export async function connected(
  t: TestContext,
  sdk: Sdk,
  { list, install, setUp }: ConnectOptions,
): Promise<Connected> {
  const answer = (): never => list?.() as never;
  const capabilities = list === null ? {} : ROOTS;
  if (sdk === '1.x') {
    const server = new OldServer(NAME);
    server.registerTool('tool', {}, toTool(setUp(server)));
    const client = new OldClient(NAME, { capabilities });
    if (list !== null) client.setRequestHandler(ListRootsRequestSchema, answer);
    install?.(client);
    const [near, far] = OldTransport.createLinkedPair();
    await Promise.all([server.connect(far), client.connect(near)]);
    t.after(() => client.close());
    return {
      call: async () => textOf(await client.callTool({ name: 'tool' }, CallToolResultSchema)),
      changed: () => client.sendRootsListChanged(),
      close: () => client.close(),
    };
  }
  const isModern = sdk === '2.x, modern';
  const client = new ModernClient(NAME, {
    capabilities,
    ...(isModern ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {}),
  });
  if (list !== null) client.setRequestHandler('roots/list', answer);
  install?.(client);
  const [near, far] = ModernTransport.createLinkedPair();
  const handle = serveStdio(
    () => {
      const server = new ModernServer(NAME);
      server.registerTool('tool', {}, toTool(setUp(server)) as never);
      return server;
    },
    { transport: far },
  );
  await client.connect(near);
  t.after(() => client.close());
  t.after(() => handle.close());
  return {
    call: async () => textOf(await client.callTool({ name: 'tool' })),
    changed: () => client.sendRootsListChanged(),
    close: () => client.close(),
  };
}

/** A tool without arguments gets the context alone. What it returns becomes text, unless it is a result already. */
function toTool(run: Run) {
  return async (context: unknown) => {
    const value = await run({} as never, context);
    if (typeof value === 'object' && value !== null && 'resultType' in value) return value as never;
    return { content: [{ type: 'text' as const, text: JSON.stringify(value ?? null) }] };
  };
}

function textOf(result: object): string {
  const { content, isError } = result as { readonly content: { readonly text: string }[]; readonly isError?: boolean };
  const [first] = content;
  return `${isError === true ? 'error: ' : ''}${first?.text}`;
}

/** A promise that a test settles. */
export function later<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle(value) };
}
