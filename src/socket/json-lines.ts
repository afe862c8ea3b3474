// Newline-delimited JSON over a socket, with bounded memory in both directions. A peer that does not read its answers is
// not read from either; if it keeps us waiting, its connection ends. Nobody else notices.

import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { LineReader } from '../core/line-reader.ts';
import { LineWriter } from './line-writer.ts';
import { isTooDeep } from './nesting.ts';

/** Why nothing more is read from a connection. */
export type Fault = 'too-large' | 'not-utf8' | 'not-json' | 'too-deep' | 'cut-off' | 'stalled';

export interface LineLimits {
  /** Bytes of one message from the peer. */
  readonly message: number;
  /** Bytes that may wait behind the message being written before we stop reading from the peer. */
  readonly queue: number;
  /** How long that may last until the connection ends; 5 s by default. */
  readonly stallMs?: number;
}

export interface JsonLinesHandlers {
  readonly onMessage: (value: unknown) => void;
  /** Nothing more is read. Answer with end(). */
  readonly onFault: (fault: Fault) => void;
  /** The peer has sent all it will; it may still read. */
  readonly onEnd: () => void;
  readonly onClose: () => void;
  /** See LineWriterOptions. */
  readonly nextNotice?: () => string | null;
}

const DEFAULT_STALL_MS = 5_000;
/** How long a peer may take to read what is still to be written when its connection ends. */
const FLUSH_MS = 30_000;
/** How long a peer that has our last words may go on sending. It is dropped: a close at once would lose it those words. */
const LINGER_MS = 1_000;

export class JsonLines {
  readonly #socket: Socket;
  readonly #limits: LineLimits;
  readonly #handlers: JsonLinesHandlers;
  readonly #reader: LineReader;
  readonly #writer: LineWriter;
  #holds = 0;
  #isReading = false;
  #isEnding = false;
  #stall: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;

  /** Takes over the socket: it must have been accepted with `pauseOnConnect` and `allowHalfOpen`. */
  constructor(socket: Socket, limits: LineLimits, handlers: JsonLinesHandlers) {
    this.#socket = socket;
    this.#limits = limits;
    this.#handlers = handlers;
    this.#reader = new LineReader(limits.message);
    const nextNotice = handlers.nextNotice ?? (() => null);
    this.#writer = new LineWriter({ socket, nextNotice, onDrain: () => this.#drained() });
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('end', () => this.#ended());
    // A peer that goes away while we write is no fault of ours: the close that follows says all.
    socket.on('error', () => {});
    socket.on('close', () => this.#closed());
    socket.resume();
  }

  get waitingBytes(): number {
    return this.#writer.waitingBytes;
  }

  /** Sends one message, given as JSON text without a line break. Dropped after end(). */
  send(json: string): void {
    if (this.#isEnding) return;
    this.#writer.send(json);
    if (this.#stall === undefined && this.#writer.waitingBytes > this.#limits.queue) this.#startStall();
  }

  /** There is something for `nextNotice` to give. */
  notify(): void {
    if (!this.#isEnding) this.#writer.notify();
  }

  /** Delivers no message until release(); calls count. */
  hold(): void {
    this.#holds += 1;
    this.#socket.pause();
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds === 0) this.#continue();
  }

  /** Sends what waits and a last message, then ends the connection. */
  end(lastJson?: string): void {
    if (this.#isEnding) return;
    if (lastJson !== undefined) this.#writer.send(lastJson);
    this.#isEnding = true;
    this.#clearStall();
    this.#writer.end();
    this.#socket.resume();
    this.#destroyAfter(FLUSH_MS);
    this.#socket.once('finish', () => this.#destroyAfter(LINGER_MS));
  }

  /** Ends the connection at once; what waits is lost. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Resolves when the connection is gone. */
  async whenClosed(): Promise<void> {
    if (!this.#socket.closed) await once(this.#socket, 'close');
  }

  #destroyAfter(delayMs: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#socket.destroy(), delayMs).unref();
  }

  #read(chunk: Buffer): void {
    if (this.#isEnding) return;
    this.#reader.push(chunk);
    this.#deliver();
  }

  #deliver(): void {
    // A handler can hold and release again while we are in here.
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#holds === 0 && !this.#isEnding) {
        const line = this.#reader.next();
        if (line === null) break;
        this.#deliverLine(line);
      }
    } finally {
      this.#isReading = false;
    }
  }

  #deliverLine(line: Buffer | 'too-large'): void {
    const parsed = line === 'too-large' ? line : parseLine(line);
    if (typeof parsed === 'string') this.#fault(parsed);
    else if (parsed !== null) this.#handlers.onMessage(parsed.value);
  }

  #continue(): void {
    this.#deliver();
    if (this.#holds === 0) this.#socket.resume();
  }

  #startStall(): void {
    this.hold();
    const { stallMs = DEFAULT_STALL_MS } = this.#limits;
    this.#stall = setTimeout(() => this.#stalled(), stallMs).unref();
  }

  #clearStall(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }

  #drained(): void {
    if (this.#stall === undefined) return;
    this.#clearStall();
    this.release();
  }

  /** It does not read: there is no use in telling it why. */
  #stalled(): void {
    this.#handlers.onFault('stalled');
    this.#socket.destroy();
  }

  #fault(fault: Fault): void {
    this.#handlers.onFault(fault);
    this.end();
  }

  #ended(): void {
    if (this.#isEnding) return;
    if (this.#reader.isInsideLine) this.#fault('cut-off');
    else this.#handlers.onEnd();
  }

  #closed(): void {
    this.#isEnding = true;
    this.#clearStall();
    clearTimeout(this.#deadline);
    this.#handlers.onClose();
  }
}

/** null: an empty line, which says nothing and is no fault. */
function parseLine(line: Buffer): { readonly value: unknown } | Fault | null {
  if (line.length === 0) return null;
  if (!isUtf8(line)) return 'not-utf8';
  if (isTooDeep(line)) return 'too-deep';
  try {
    return { value: JSON.parse(line.toString()) };
  } catch {
    return 'not-json';
  }
}
