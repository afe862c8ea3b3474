// The ends of `run`'s bytes. One reused buffer a direction; what a reader keeps it must copy, unless it says stop.

import { Socket, type SocketConstructorOpts } from 'node:net';
import type { Readable, Writable } from 'node:stream';

/**
 * A little more than a Unix socket holds: a long message takes as few turns as can be, which halves its time against 64 KiB.
 * What no message reaches costs no memory.
 */
const BUFFER_BYTES = 262_144;

/** `onread` of node:net, which @types/node knows only for connect(). */
export interface OnRead {
  readonly buffer: Buffer;
  readonly callback: (bytes: number, buffer: Uint8Array) => boolean;
}

export interface ByteReader {
  /** Takes a chunk. false: stop; the chunk stays valid until resume(). */
  take(chunk: Buffer): boolean;
  ended(): void;
}

export interface ByteSource {
  start(reader: ByteReader): void;
  /** At the end tells the reader of it once more. */
  resume(): void;
  close(): void;
}

/** Reads a socket that was made with `onread` of this source. It delivers nothing before start(). */
export class SocketSource implements ByteSource {
  readonly onread: OnRead;
  #socket: Socket | null = null;
  #reader: ByteReader | null = null;
  #first: ((chunk: Buffer) => void) | null = null;
  /** What came before there was a reader: one chunk at most, the socket stops then. */
  #early: Buffer | null = null;
  #isStopped = false;
  #hasEnded = false;

  constructor() {
    const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    this.onread = { buffer, callback: (bytes) => this.#take(buffer.subarray(0, bytes)) };
  }

  attach(socket: Socket): void {
    this.#socket = socket;
    socket.on('end', () => this.#end());
    socket.on('close', () => this.#end());
    socket.on('error', () => undefined);
  }

  /** Calls back with a copy of the first chunk, which no reader then sees. */
  onceFirst(callback: (chunk: Buffer) => void): void {
    this.#first = callback;
  }

  start(reader: ByteReader): void {
    this.#reader = reader;
    const early = this.#early;
    this.#early = null;
    if (early === null || this.#take(early)) this.resume();
  }

  resume(): void {
    this.#isStopped = false;
    if (this.#hasEnded) this.#reader?.ended();
    else this.#socket?.resume();
  }

  close(): void {
    this.#reader = null;
    this.#socket?.destroy();
  }

  #take(chunk: Buffer): boolean {
    const first = this.#first;
    this.#first = null;
    if (first !== null) first(Buffer.from(chunk));
    else if (this.#reader === null) this.#early = chunk;
    this.#isStopped = first !== null || this.#reader === null || !this.#reader.take(chunk);
    return !this.#isStopped;
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (!this.#isStopped) this.#reader?.ended();
  }
}

/** Reads a stream that has no `onread`: a terminal, a file. */
class StreamSource implements ByteSource {
  readonly #stream: Readable;
  #reader: ByteReader | null = null;
  #hasEnded = false;

  constructor(stream: Readable) {
    this.#stream = stream;
  }

  start(reader: ByteReader): void {
    this.#reader = reader;
    this.#stream.on('data', (chunk: Buffer) => {
      if (!reader.take(chunk)) this.#stream.pause();
    });
    this.#stream.on('end', () => this.#end());
    this.#stream.on('error', () => this.#end());
  }

  resume(): void {
    if (this.#hasEnded) this.#reader?.ended();
    else this.#stream.resume();
  }

  close(): void {
    this.#stream.destroy();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#reader?.ended();
  }
}

/** A pipe or socket of this process, read from the first start() on; anything else is read as the fallback stream. */
export function openFdSource(fd: number, fallback: () => Readable): ByteSource {
  let source: ByteSource | null = null;
  return {
    start(reader) {
      source = socketSourceOf(fd) ?? new StreamSource(fallback());
      source.start(reader);
    },
    resume: () => source?.resume(),
    close: () => source?.close(),
  };
}

function socketSourceOf(fd: number): SocketSource | null {
  const source = new SocketSource();
  const socket = socketOf(fd, { readable: true, writable: false, onread: source.onread });
  if (socket !== null) source.attach(socket);
  return socket === null ? null : source;
}

/** null: node:net does not take such a descriptor (a file, a terminal, /dev/null). */
export function socketOf(fd: number, options: SocketConstructorOpts & { readonly onread?: OnRead }): Socket | null {
  try {
    return new Socket({ ...options, fd });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_INVALID_FD_TYPE') return null;
    throw error;
  }
}

/** Writes bytes and knows when they are the writer's again. */
export class ByteSink {
  readonly #stream: Writable;
  #gone = false;
  /** Called whenever all bytes have left. */
  onFree: (() => void) | null = null;
  /** Called once when nobody reads any more. */
  onGone: (() => void) | null = null;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', () => this.#lose());
    stream.on('close', () => this.#lose());
  }

  /** Were all bytes written, so that their buffers may be used again? */
  get free(): boolean {
    return this.#gone || this.#stream.writableLength === 0;
  }

  write(bytes: Uint8Array, written?: () => void): void {
    const done = (): void => {
      written?.();
      if (this.free) this.onFree?.();
    };
    if (this.#gone || this.#stream.writableEnded) done();
    else this.#stream.write(bytes, done);
  }

  /** Ends the stream once all bytes have left; resolves then, or when nobody reads any more. */
  end(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#gone || this.#stream.writableFinished) return resolve();
      this.#stream.once('close', resolve);
      this.#stream.once('error', () => resolve());
      this.#stream.end(() => resolve());
    });
  }

  #lose(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.onGone?.();
    this.onFree?.();
  }
}

/** A pipe or socket of this process to write to; anything else is written as the fallback stream. */
export function openFdSink(fd: number, fallback: () => Writable): ByteSink {
  return new ByteSink(socketOf(fd, { readable: false, writable: true }) ?? fallback());
}
