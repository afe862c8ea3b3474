// Hosts that show a person forms: clients of the SDKs in front of `bin/rootsd run`, with the reference filesystem server behind
// it and a daemon whose policy asks.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioClientTransport2 } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { HistoryRow } from '../../src/daemon/consent-rows.ts';
import { list, PATIENT } from './asking-home.ts';
import { FILESYSTEM } from './real-servers.ts';
import { ROOTSD, TestHome } from './serve.ts';

const TREE = ['file home/a/f in a', 'file home/b/f in b'];
const INFO = { name: 'host', version: '1' };

export interface Asked {
  readonly message: string;
  readonly scopes: readonly string[];
}
export type Said = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: { readonly answer: string } };
/** `signal`: the question is over. */
export type Answer = (asked: Asked, signal: AbortSignal) => Said | Promise<Said>;

export interface Host {
  /** The text that a tool gives. */
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<string>;
  readonly close: () => Promise<void>;
}
/** A host of one of the SDKs; without `answer` it does not say that it can be asked. */
export type Connect = (home: TestHome, answer?: Answer) => Promise<Host>;

export const yes = (answer: string): Answer => {
  return () => ({ action: 'accept', content: { answer } });
};
export const never: Answer = () => new Promise(() => undefined);

function commandOf(home: TestHome) {
  const args = [ROOTSD, 'run', '--host', 'tester', '--', process.execPath, FILESYSTEM];
  return { command: process.execPath, args, env: { ...home.env }, stderr: 'ignore' as const };
}

function textOf(result: unknown): string {
  return (result as { content: { text: string }[] }).content[0]?.text ?? '';
}

// biome-ignore lint/suspicious/noExplicitAny: the form is looked at below, whatever the SDK says that it is.
export function askedBy({ message, requestedSchema }: any): Asked {
  assert.deepEqual([requestedSchema.required, Object.keys(requestedSchema.properties)], [['answer'], ['answer']]);
  const { type, enum: answers } = requestedSchema.properties.answer;
  assert.deepEqual([type, answers[0]], ['string', 'deny']);
  return { message, scopes: answers.slice(1) };
}

export async function connect1(home: TestHome, answer?: Answer): Promise<Host> {
  const client = new Client(INFO, { capabilities: answer === undefined ? {} : { elicitation: {} } });
  if (answer !== undefined) {
    client.setRequestHandler(
      ElicitRequestSchema,
      async ({ params }, { signal }) => (await answer(askedBy(params), signal)) as never,
    );
  }
  await client.connect(new StdioClientTransport(commandOf(home)));
  return {
    call: async (name, args = {}) => textOf(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
}

export async function connect2(home: TestHome, answer?: Answer): Promise<Host> {
  const client = new Client2(INFO, { capabilities: answer === undefined ? {} : { elicitation: { form: {} } } });
  if (answer !== undefined) {
    client.setRequestHandler(
      'elicitation/create',
      async ({ params }, { mcpReq }) => (await answer(askedBy(params), mcpReq.signal)) as never,
    );
  }
  await client.connect(new StdioClientTransport2(commandOf(home)));
  return {
    call: async (name, args = {}) => textOf(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
}

/** The policy allows the server `a` and asks about `b`. */
export function askingPolicy(more = ''): string {
  return [
    'roots: { a: { path: ~/a }, b: { path: ~/b } }',
    `servers: { filesystem: { command: [node, ${JSON.stringify(FILESYSTEM)}] } }`,
    'rules:',
    '  - { id: files, allow: [a], servers: [filesystem] }',
    `  - { id: other, ask: [b], servers: [filesystem], scopes: [session, 8h, always], reason: because${more} }`,
  ].join('\n');
}

export async function serve(t: TestContext, { policy = askingPolicy(), config = PATIENT } = {}): Promise<TestHome> {
  const home = new TestHome(t, TREE);
  home.configure(config);
  home.policy(policy);
  await home.serve();
  return home;
}

export async function listed({ call }: Host): Promise<readonly string[]> {
  return (await call('list_allowed_directories')).split('\n').slice(1);
}

export async function untilAllowed(home: TestHome, host: Host, ...names: readonly string[]): Promise<void> {
  const wanted = names.map((name) => join(home.home, name)).join();
  while ((await listed(host)).join() !== wanted);
}

/** What has been answered; waits until something has. */
export async function untilAnswered(home: TestHome): Promise<readonly HistoryRow[]> {
  for (;;) {
    const { history } = await list(home);
    if (history.length > 0) return history;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function untilPending(home: TestHome, count: number): Promise<void> {
  while ((await list(home)).pending.length !== count) await new Promise((resolve) => setTimeout(resolve, 20));
}
