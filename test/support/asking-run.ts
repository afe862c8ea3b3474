// `rootsd run` in front of a server whose directories a person is asked for, with a real daemon and somebody who sees questions.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { ASKS, PATIENT, served } from './asking-home.ts';
import { type Json, OBEDIENT_SERVER, RunHost } from './run-host.ts';
import { ROOTSD, type Served, type TestHome } from './serve.ts';
import { ShownQuestions } from './shown-questions.ts';

export interface AskingRun {
  readonly home: TestHome;
  readonly daemon: Served;
  readonly host: RunHost;
  readonly shown: ShownQuestions;
}

export interface AskingRunOptions {
  readonly policy?: string;
  readonly config?: string;
  /** Behind `node`. */
  readonly server?: readonly string[];
  /** More of the home. */
  readonly tree?: readonly string[];
}

export async function askingRun(t: TestContext, options: AskingRunOptions = {}): Promise<AskingRun> {
  const { policy = ASKS, config = PATIENT, server = [OBEDIENT_SERVER], tree } = options;
  const { home, daemon } = await served(t, policy, config, tree);
  const shown = await ShownQuestions.open(t, home);
  const args = ['run', '--socket', home.socket, '--server', 'fs', '--', process.execPath, ...server];
  const host = new RunHost(t, { program: ROOTSD, args, env: home.env });
  await host.initialize();
  return { home, daemon, host, shown };
}

/** A call that the server answers with "done". */
export function callOf(path: string, id: unknown = 7, more: Json = {}): Json {
  const script = ['{"jsonrpc":"2.0","id":$ID,"result":"done"}'];
  return { id, method: 'tools/call', params: { name: `read ${id}`, arguments: { path, script }, ...more } };
}

/** The text with which a call is refused. */
export async function refusal(host: RunHost, id: unknown = 7): Promise<string> {
  const { result } = (await host.next((message) => message.id === id)) as {
    readonly result: { readonly isError?: boolean; readonly content: readonly [{ readonly text: string }] };
  };
  assert.equal(result.isError, true);
  return result.content[0].text;
}

export async function reached({ host }: AskingRun): Promise<readonly unknown[]> {
  const lines = ((await host.ask('received')) as string[]).map((line) => JSON.parse(line) as Json);
  return lines.filter(({ method }) => method === 'tools/call').map(({ id }) => id);
}
