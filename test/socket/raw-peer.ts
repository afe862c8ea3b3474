// A peer of few lines that takes nothing for granted: raw bytes out, lines in.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface Reply {
  readonly jsonrpc: '2.0';
  readonly id?: string | number | null;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at what came, whatever it is.
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

export class RawPeer {
  readonly socket: Socket;
  /** The daemon has said its last. */
  readonly ended: Promise<unknown>;
  readonly closed: Promise<unknown>;
  /** All that came. */
  readonly received: Buffer[] = [];
  readonly #messages: Reply[] = [];
  readonly #waiters: ((message: Reply) => void)[] = [];
  #rest = '';
  #nextId = 1;

  constructor(socket: Socket) {
    this.socket = socket;
    this.ended = Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => {});
    this.closed = once(socket, 'close').catch(() => {});
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  write(text: string | Buffer): void {
    this.socket.write(text);
  }

  send(message: unknown): void {
    this.write(`${JSON.stringify(message)}\n`);
  }

  notify(method: string, params?: unknown): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  /** Sends a request and returns the next message, which must answer it. */
  async request(method: string, params?: unknown): Promise<Reply> {
    const id = this.#nextId++;
    this.send({ jsonrpc: '2.0', id, method, params });
    const reply = await this.next();
    assert.equal(reply.id, id);
    return reply;
  }

  next(): Promise<Reply> {
    const message = this.#messages.shift();
    if (message !== undefined) return Promise.resolve(message);
    return new Promise((resolve, reject) => {
      this.#waiters.push(resolve);
      void this.closed.then(() => reject(new Error('The connection closed before a message came')));
    });
  }

  /** What has come and was not taken by next(). */
  get unread(): readonly Reply[] {
    return this.#messages;
  }

  #take(chunk: Buffer): void {
    this.received.push(chunk);
    const lines = (this.#rest + chunk.toString('latin1')).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#give(JSON.parse(Buffer.from(line, 'latin1').toString()) as Reply);
  }

  #give(message: Reply): void {
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#messages.push(message);
    else waiter(message);
  }
}

/** Connects; the connection is cut after the test. */
export async function connectPeer(t: Pick<TestContext, 'after'>, path: string): Promise<RawPeer> {
  const socket = createConnection({ path, allowHalfOpen: true });
  t.after(() => socket.destroy());
  const peer = new RawPeer(socket);
  await once(socket, 'connect');
  return peer;
}
