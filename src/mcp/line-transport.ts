import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { LISTEN } from './listening.ts';

export interface LineTransportOptions {
  /** Sends one message, given as JSON text. */
  readonly send: (json: string) => void;
  /** Nothing more is to be given to receive() until release(); calls count. */
  readonly hold: () => void;
  readonly release: () => void;
  /** A request is answered with an error. */
  readonly onRefused?: (id: unknown) => void;
  /** The server has ended the conversation. */
  readonly onClose: () => void;
}

/** Requests of one client that may be under way: it waits with the next until one of them is done with. */
const MAX_OPEN_REQUESTS = 32;

/** The SDK's side of a session: messages in and out, read and written by whoever has the socket. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: LineTransportOptions;
  /** Neither answered nor given up. */
  readonly #open = new Set<unknown>();
  /** Those of them on which work goes on, also after the client has cancelled them. */
  readonly #working = new Set<unknown>();
  #isHeld = false;
  #isClosed = false;

  constructor(options: LineTransportOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return;
    if (!('method' in message)) this.#settle(message.id);
    if ('error' in message) this.#options.onRefused?.(message.id);
    this.#options.send(JSON.stringify(message));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.closed();
    this.#options.onClose();
  }

  /** A message of the client, which is JSON-RPC. */
  receive(message: JSONRPCMessage): void {
    if ('method' in message) this.#note(message);
    this.onmessage?.(message);
  }

  /** Is a request of this id under way? */
  isOpen(id: unknown): boolean {
    return this.#open.has(id);
  }

  /** Work on a request begins. The function that it returns is to be called when that has ended, and whether an answer follows. */
  begin(id: unknown): (isAnswered: boolean) => void {
    this.#working.add(id);
    return (isAnswered) => {
      this.#working.delete(id);
      if (!isAnswered) this.#settle(id);
    };
  }

  /** The client is gone. */
  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #note(message: Extract<JSONRPCMessage, { readonly method: string }>): void {
    if (message.method === 'notifications/cancelled') this.#cancelled(message.params?.requestId);
    // That one is answered when it ends.
    if (!('id' in message) || message.method === LISTEN) return;
    this.#open.add(message.id);
    if (this.#open.size < MAX_OPEN_REQUESTS || this.#isHeld) return;
    this.#isHeld = true;
    this.#options.hold();
  }

  /** What is cancelled is not answered; the work may go on for a while, and counts for as long. */
  #cancelled(id: unknown): void {
    if (!this.#working.has(id)) this.#settle(id);
  }

  #settle(id: unknown): void {
    if (!this.#open.delete(id) || !this.#isHeld) return;
    this.#isHeld = false;
    this.#options.release();
  }
}
