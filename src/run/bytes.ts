// The ends of `run`'s bytes. One reused buffer a direction; what a reader keeps it must copy, unless it says stop.

import { fstatSync, readSync, statSync } from 'node:fs';
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

/**
 * Reads a file, which always answers at once. Node's own stream would do; to load it, and the threads that read for it, takes
 * longer than all else that `run` does until its server is there.
 */
class FileSource implements ByteSource {
  readonly #fd: number;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #reader: ByteReader | null = null;

  constructor(fd: number) {
    this.#fd = fd;
  }

  start(reader: ByteReader): void {
    this.#reader = reader;
    this.resume();
  }

  resume(): void {
    setImmediate(() => this.#read());
  }

  close(): void {
    this.#reader = null;
  }

  #read(): void {
    if (this.#reader === null) return;
    const bytes = readOrEnd(this.#fd, this.#buffer);
    if (bytes === 0) this.#reader.ended();
    else if (this.#reader.take(this.#buffer.subarray(0, bytes))) this.resume();
  }
}

/** What cannot be read (a directory, a file opened for writing) is at its end. */
function readOrEnd(fd: number, buffer: Buffer): number {
  try {
    return readSync(fd, buffer);
  } catch {
    return 0;
  }
}

/** Reads a stream that has no `onread`: a terminal. */
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

/** A pipe, a socket or a file of this process, read from the first start() on; anything else is read as the fallback stream. */
export function openFdSource(fd: number, fallback: () => Readable): ByteSource {
  let source: ByteSource | null = null;
  return {
    start(reader) {
      source = socketSourceOf(fd) ?? (isFile(fd) ? new FileSource(fd) : new StreamSource(fallback()));
      source.start(reader);
    },
    resume: () => source?.resume(),
    close: () => source?.close(),
  };
}

function socketSourceOf(fd: number): SocketSource | null {
  if (!isConnection(fd)) return null;
  const source = new SocketSource();
  const socket = socketOf(fd, { readable: true, writable: false, onread: source.onread });
  if (socket !== null) source.attach(socket);
  return socket === null ? null : source;
}

/** A regular file, or /dev/null. */
function isFile(fd: number): boolean {
  const stats = fstatSync(fd);
  return stats.isFile() || (stats.isCharacterDevice() && stats.rdev === statSync('/dev/null').rdev);
}

/** What node:net can take. To let it find out costs a millisecond. */
function isConnection(fd: number): boolean {
  const stats = fstatSync(fd);
  return stats.isFIFO() || stats.isSocket();
}

/** null: node:net does not take such a descriptor (a socket without connections). */
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
  #stream: Writable | null = null;
  readonly #open: () => Writable;
  #gone = false;
  /** Called whenever all bytes have left. */
  onFree: (() => void) | null = null;
  /** Called once when nobody reads any more. */
  onGone: (() => void) | null = null;

  /** A function opens the stream at the first write: for what nobody can leave before. */
  constructor(stream: Writable | (() => Writable)) {
    this.#open = typeof stream === 'function' ? stream : () => stream;
    if (typeof stream !== 'function') this.#opened();
  }

  /** Were all bytes written, so that their buffers may be used again? */
  get free(): boolean {
    return this.#gone || this.#stream === null || this.#stream.writableLength === 0;
  }

  write(bytes: Uint8Array, written?: () => void): void {
    const stream = this.#stream ?? this.#opened();
    const done = (): void => {
      written?.();
      if (this.free) this.onFree?.();
    };
    if (this.#gone || stream.writableEnded) done();
    else stream.write(bytes, done);
  }

  /** Ends the stream once all bytes have left; resolves then, or when nobody reads any more. */
  end(): Promise<void> {
    const stream = this.#stream;
    return new Promise((resolve) => {
      if (this.#gone || stream === null || stream.writableFinished) return resolve();
      stream.once('close', resolve);
      stream.once('error', () => resolve());
      stream.end(() => resolve());
    });
  }

  #opened(): Writable {
    const stream = this.#open();
    this.#stream = stream;
    stream.on('error', () => this.#lose());
    stream.on('close', () => this.#lose());
    return stream;
  }

  #lose(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.onGone?.();
    this.onFree?.();
  }
}

/** A pipe or socket of this process to write to; anything else is written as the fallback stream, opened at the first write. */
export function openFdSink(fd: number, fallback: () => Writable): ByteSink {
  const socket = isConnection(fd) ? socketOf(fd, { readable: false, writable: true }) : null;
  return new ByteSink(socket ?? fallback);
}
