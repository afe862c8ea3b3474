// Newline-delimited JSON over a socket, with bounded memory in both directions, for one peer and for all together. A peer
// that does not read its answers is not read from either; if it keeps us waiting, its connection ends. One that sends as
// fast as it can waits after a few messages until the others have had their turn. Nobody else notices.

import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { LineReader } from '../core/line-reader.ts';
import type { HeldBytes, Holder } from './held-bytes.ts';
import { LineWriter, type Notice } from './line-writer.ts';
import { isTooDeep } from './nesting.ts';

/** Why nothing more is read from a connection. */
export type Fault = 'too-large' | 'not-utf8' | 'not-json' | 'too-deep' | 'cut-off' | 'stalled' | 'holds-most';

export interface LineLimits {
  /** Bytes of one message from the peer. */
  readonly message: number;
  /** Bytes that may wait behind the message being written before we stop reading from the peer. */
  readonly queue: number;
  /** How long that may last until the connection ends; 5 s by default. */
  readonly stallMs?: number;
  /** How long it may take to read what is being written to it, be it that nothing waits behind; 60 s by default. */
  readonly takeMs?: number;
}

export interface JsonLinesOptions {
  readonly limits: LineLimits;
  /** Of all peers together. */
  readonly held: HeldBytes;
}

export interface JsonLinesHandlers {
  readonly onMessage: (value: unknown) => void;
  /** Nothing more is read. Answer with end(). */
  readonly onFault: (fault: Fault) => void;
  /** The peer has sent all it will; it may still read. */
  readonly onEnd: () => void;
  readonly onClose: () => void;
  /** See LineWriterOptions. */
  readonly nextNotice?: () => Notice | null;
}

const DEFAULT_STALL_MS = 5_000;
const DEFAULT_TAKE_MS = 60_000;
/** How long a peer may take to read what is still to be written when its connection ends. */
const FLUSH_MS = 30_000;
/** How long a peer that has our last words may go on sending. It is dropped: a close at once would lose it those words. */
const LINGER_MS = 1_000;
/** Messages of one peer until the others have their turn. */
const TURN_MESSAGES = 64;

export class JsonLines implements Holder {
  readonly #socket: Socket;
  readonly #limits: LineLimits;
  readonly #held: HeldBytes;
  readonly #handlers: JsonLinesHandlers;
  readonly #reader: LineReader;
  readonly #writer: LineWriter;
  #holds = 0;
  #keptBytes = 0;
  #heldBytes = 0;
  #isReading = false;
  #isEnding = false;
  #stall: NodeJS.Timeout | undefined;
  #take: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;

  /** Takes over the socket: it must have been accepted with `pauseOnConnect` and `allowHalfOpen`. */
  constructor(socket: Socket, { limits, held }: JsonLinesOptions, handlers: JsonLinesHandlers) {
    this.#socket = socket;
    this.#limits = limits;
    this.#held = held;
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
    this.#written();
  }

  /** There is something for `nextNotice` to give. */
  notify(): void {
    if (this.#isEnding) return;
    this.#writer.notify();
    this.#written();
  }

  /** So many bytes more are kept for this peer until it closes. */
  keep(bytes: number): void {
    this.#keptBytes += bytes;
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
    this.#reader.clear();
    this.#clearStall();
    this.#clearTake();
    this.#writer.end();
    this.#account();
    this.#socket.resume();
    this.#destroyAfter(FLUSH_MS);
    this.#socket.once('finish', () => this.#flushed());
  }

  /** Ends the connection at once; what waits is lost. */
  destroy(): void {
    this.#socket.destroy();
  }

  endAsLargest(): void {
    const isReading = this.#socket.writableLength === 0;
    this.#heldBytes = 0;
    this.#reader.clear();
    this.#writer.clear();
    if (!this.#isEnding) this.#fault('holds-most');
    // There is no use in telling why to one that does not read.
    if (!isReading) this.#socket.destroy();
  }

  /** Resolves when the connection is gone. */
  async whenClosed(): Promise<void> {
    if (!this.#socket.closed) await once(this.#socket, 'close');
  }

  #flushed(): void {
    this.#account();
    this.#destroyAfter(LINGER_MS);
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
      for (let delivered = 0; this.#holds === 0 && !this.#isEnding; delivered += 1) {
        if (delivered === TURN_MESSAGES) {
          this.#yield();
          break;
        }
        const line = this.#reader.next();
        if (line === null) break;
        this.#deliverLine(line);
      }
    } finally {
      this.#isReading = false;
    }
    this.#account();
  }

  #yield(): void {
    this.hold();
    setImmediate(() => this.release());
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

  /** What is kept for this peer has changed. */
  #account(): void {
    const { writableLength, closed } = this.#socket;
    const unread = this.#isEnding ? writableLength : this.#writer.waitingBytes;
    const bytes = closed ? 0 : this.#keptBytes + this.#reader.heldBytes + unread;
    if (bytes === this.#heldBytes) return;
    this.#heldBytes = bytes;
    this.#held.set(this, bytes);
  }

  #written(): void {
    const { takeMs = DEFAULT_TAKE_MS } = this.#limits;
    if (this.#socket.writableLength > 0) this.#take ??= this.#stallAfter(takeMs);
    if (this.#writer.waitingBytes > this.#limits.queue) this.#startStall();
    if (!this.#isReading) this.#account();
  }

  #startStall(): void {
    if (this.#stall !== undefined) return;
    this.hold();
    const { stallMs = DEFAULT_STALL_MS } = this.#limits;
    this.#stall = this.#stallAfter(stallMs);
  }

  #stallAfter(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#stalled(), delayMs).unref();
  }

  #clearStall(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }

  #clearTake(): void {
    clearTimeout(this.#take);
    this.#take = undefined;
  }

  /** What was being written has gone out; what waited behind it is being written. */
  #drained(): void {
    if (this.#take !== undefined) this.#clearTake();
    this.#written();
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
    this.#reader.clear();
    this.#clearStall();
    this.#clearTake();
    this.#account();
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
