// A daemon that speaks the peers' protocol (docs/protocol.md) from values that a test sets. Real sockets, no policy.

import { chmodSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { JsonLineReader } from '../../src/client/json-lines.ts';
import { type RealPath, toFileUri } from '../../src/core/path.ts';
import { PLAN_FIRST_SUFFIX, type PlanFirst } from '../../src/core/plan-first.ts';
import type { AttachResult, HostQuestion, LaunchPlan, RpcError, ViewMessage } from '../../src/core/protocol.ts';
import { UNKNOWN_SERVER } from '../../src/core/server-traits.ts';
import { VERSION } from '../../src/version.ts';

export interface Received {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const PLAN: LaunchPlan = {
  ...UNKNOWN_SERVER,
  roots: true,
  hostRoots: 'narrow',
  guard: 'on',
  policyFiles: ['/etc/rootsd/policies.d/fake.yaml'],
  policyFileCount: 1,
  policyDirectories: ['/etc/rootsd/policies.d'],
  policyState: 'ok',
  version: VERSION,
};

/** A view without what the daemon adds to it: the plan and the count. */
export type FakeView = Omit<ViewMessage, 'plan' | 'serial'>;

/** Names of roots and the directories they stand for, as a view. */
export function viewOf(roots: Readonly<Record<string, string>>, generation = '01'): FakeView {
  const entries = Object.entries(roots);
  return {
    generation,
    roots: entries.map(([name, path]) => ({
      uri: toFileUri(path as RealPath),
      name,
      _meta: { 'io.rootsd/access': 'read-write' },
    })),
    boundary: entries.map(([root, path]) => ({ root, path, access: 'read-write', carved: [] })),
    view: [],
  };
}

export class FakeDaemon {
  readonly socket: string;
  plan: LaunchPlan = PLAN;
  /** Answers `rootsd/attach` with this error. */
  refusal: RpcError | null = null;
  /** Answers `rootsd/answer` with this. */
  answerError: { readonly error: RpcError } | null = null;
  /** false: takes everything and answers nothing. */
  answers = true;
  readonly received: Received[] = [];
  #view: FakeView;
  #serial = 1;
  #server: Server | null = null;
  readonly #connections = new Set<Socket>();
  #waiting: { readonly method: string; readonly resolve: (received: Received) => void }[] = [];

  constructor(directory: string, view: FakeView) {
    this.socket = join(directory, 'rootsd.sock');
    this.#view = view;
  }

  /** Starts one in a directory, with a view; it stops after the test. */
  static async start(t: Pick<TestContext, 'after'>, directory: string, view: FakeView): Promise<FakeDaemon> {
    const daemon = new FakeDaemon(directory, view);
    const nothing: PlanFirst = { names: [], commands: [], matches: [] };
    writeFileSync(`${daemon.socket}${PLAN_FIRST_SUFFIX}`, JSON.stringify(nothing));
    await daemon.listen();
    t.after(() => daemon.stop());
    return daemon;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => {
      this.#server = createServer((socket) => this.#serve(socket));
      this.#server.listen(this.socket, () => {
        chmodSync(this.socket, 0o600);
        resolve();
      });
    });
  }

  /** From now on a session that asks is told this. */
  show(view: FakeView): void {
    this.#view = view;
  }

  /** Sends every session another view, under the plan that holds now. */
  publish(view: FakeView): void {
    this.#view = view;
    this.#serial += 1;
    for (const socket of this.#connections) send(socket, { method: 'rootsd/view', params: this.view });
  }

  /** Tells every session that its host may answer these questions, and no others. */
  ask(...questions: readonly HostQuestion[]): void {
    for (const socket of this.#connections) send(socket, { method: 'rootsd/questions', params: { questions } });
  }

  /** What a session that asks now is told. */
  get view(): ViewMessage {
    return { ...this.#view, plan: this.plan, serial: this.#serial };
  }

  /** Resolves with the next message of that method, also one that has come already and was not waited for. */
  next(method: string): Promise<Received> {
    const index = this.received.findIndex((received) => received.method === method);
    const [found] = index === -1 ? [] : this.received.splice(index, 1);
    return found === undefined
      ? new Promise((resolve) => this.#waiting.push({ method, resolve }))
      : Promise.resolve(found);
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Goes away, like a process that was killed; listen() brings it back. */
  stop(): void {
    for (const socket of this.#connections) socket.destroy();
    this.#connections.clear();
    if (this.#server === null) return;
    this.#server.close();
    this.#server = null;
    try {
      unlinkSync(this.socket);
    } catch {
      // close() has removed it already.
    }
  }

  #serve(socket: Socket): void {
    this.#connections.add(socket);
    socket.on('close', () => this.#connections.delete(socket));
    socket.on('error', () => undefined);
    const reader = new JsonLineReader((message) => this.#take(socket, message as Received & { readonly id?: number }));
    socket.on('data', (chunk) => reader.push(chunk));
  }

  #take(socket: Socket, { id, method, params }: Received & { readonly id?: number }): void {
    const index = this.#waiting.findIndex((waiting) => waiting.method === method);
    const [waiting] = index === -1 ? [] : this.#waiting.splice(index, 1);
    if (waiting === undefined) this.received.push({ method, params });
    else waiting.resolve({ method, params });
    if (id === undefined || !this.answers) return;
    if (this.refusal !== null) send(socket, { id, error: this.refusal });
    else if (method === 'rootsd/attach') send(socket, { id, result: this.#attachResult(params) });
    else if (method === 'rootsd/answer') send(socket, { id, ...(this.answerError ?? { result: { given: null } }) });
    else if (method === 'rootsd/watch') send(socket, { id, result: this.view });
    else send(socket, { id, error: { code: -32601, message: 'Method not found' } });
  }

  #attachResult({ server, host }: Received['params']): AttachResult {
    const { generation, roots, boundary } = this.#view;
    const claimed = { server: (server ?? null) as string | null, host: (host ?? null) as string | null };
    const peer = { uid: 0, gid: 0, pid: 1, exe: null, class: 'claimed', ...claimed } as const;
    return { session: '1', generation, peer, roots, boundary, plan: this.plan };
  }
}

function send(socket: Socket, message: object): void {
  socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}
