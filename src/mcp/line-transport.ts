import type { JSONRPCMessage, JSONRPCRequest, Transport } from '@modelcontextprotocol/server';
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

/** Requests of one client that may be under way: the next waits until one of them is done with. */
const MAX_OPEN_REQUESTS = 32;
/** So many wait, of so many characters, while it is still read what the client cancels. */
const MAX_WAITING = 32;
const MAX_WAITING_LENGTH = 256 * 1024;

interface Waiting {
  readonly message: JSONRPCRequest;
  readonly length: number;
}

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
  /** By id, the first one first. */
  readonly #waiting = new Map<unknown, Waiting>();
  #waitingLength = 0;
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
    // One that lasts is answered when it ends.
    const isCounted = 'method' in message && 'id' in message && message.method !== LISTEN;
    if (isCounted && this.#open.size >= MAX_OPEN_REQUESTS) this.#wait(message);
    else {
      if (isCounted) this.#open.add(message.id);
      if ('method' in message && message.method === 'notifications/cancelled')
        this.#cancelled(message.params?.requestId);
      this.onmessage?.(message);
    }
  }

  /** Is a request of this id under way, or does it wait? */
  isOpen(id: unknown): boolean {
    return this.#open.has(id) || this.#waiting.has(id);
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
    this.#waiting.clear();
    this.onclose?.();
  }

  #wait(message: JSONRPCRequest): void {
    const { length } = JSON.stringify(message);
    this.#waiting.set(message.id, { message, length });
    this.#waitingLength += length;
    this.#holdIfFull();
  }

  /** What is cancelled is not answered; the work may go on for a while, and counts for as long. */
  #cancelled(id: unknown): void {
    if (this.#takeWaiting(id) !== null) this.#holdIfFull();
    else if (!this.#working.has(id)) this.#settle(id);
  }

  #settle(id: unknown): void {
    if (!this.#open.delete(id)) return;
    const [next] = this.#waiting.keys();
    const message = next === undefined ? null : this.#takeWaiting(next);
    if (message === null) return;
    this.#open.add(message.id);
    this.onmessage?.(message);
    this.#holdIfFull();
  }

  #takeWaiting(id: unknown): JSONRPCRequest | null {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return null;
    this.#waiting.delete(id);
    this.#waitingLength -= waiting.length;
    return waiting.message;
  }

  #holdIfFull(): void {
    const isFull = this.#waiting.size >= MAX_WAITING || this.#waitingLength > MAX_WAITING_LENGTH;
    if (isFull === this.#isHeld) return;
    this.#isHeld = isFull;
    if (isFull) this.#options.hold();
    else this.#options.release();
  }
}
