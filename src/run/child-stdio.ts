// The child's standard input and output. One end of a private Unix socket: spawn()'s own pipes cannot be read into a
// reused buffer. Servers that open /dev/stdin anew need a real pipe (`--stdio pipe`), since a socket cannot be opened.

import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, rmdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket, type SocketConnectOpts } from 'node:net';
import { join } from 'node:path';
import { RootsError } from '../core/errors.ts';
import { randomBytes } from '../disk/random.ts';
import { ByteSink, type ByteSource, SocketSource, socketOf } from './bytes.ts';
import { makeTemporaryDirectory } from './temporary-directory.ts';

export type StdioKind = 'socket' | 'pipe';

export interface ChildStdio {
  readonly source: ByteSource;
  readonly sink: ByteSink;
  /** For spawn(): the child's descriptors 0 and 1. */
  readonly far: readonly [Socket | number, Socket | number];
  /** Closes our copies of the child's descriptors, once it has them. */
  releaseFar(): void;
}

/** What to do where one kind cannot be had. */
const HINTS: Readonly<Record<StdioKind, string>> = {
  socket: 'Make $XDG_RUNTIME_DIR or $TMPDIR a directory in which this user can write',
  pipe: 'Install mkfifo (coreutils) and have it in PATH, or leave out "--stdio pipe"',
};

/** Throws a RootsError STDIO_FAILED. */
export async function openChildStdio(kind: StdioKind): Promise<ChildStdio> {
  try {
    return kind === 'socket' ? await openSocketPair() : openPipes();
  } catch (error) {
    throw new RootsError('STDIO_FAILED', { kind, what: (error as Error).message, hint: HINTS[kind] }, { cause: error });
  }
}

/** Rejects where no socket can be made, or where somebody else was at the other end of it. */
async function openSocketPair(): Promise<ChildStdio> {
  const directory = makeTemporaryDirectory();
  try {
    const path = join(directory, 's');
    const source = new SocketSource();
    const { near, far } = await connectPair(path, source);
    return { source, sink: new ByteSink(near), far: [far, far], releaseFar: () => far.destroy() };
  } finally {
    removeDirectory(directory);
  }
}

/** It is empty by now, unless something has failed: only then what can remove the rest is loaded. */
function removeDirectory(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Connects to ourselves. A process of our own uid could connect first; so what we write at the far end must arrive at the
 * near one. The far end is never read: all that arrives there is for the child.
 */
function connectPair(path: string, source: SocketSource): Promise<{ near: Socket; far: Socket }> {
  const nonce = randomBytes(16);
  return new Promise((resolve, reject) => {
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true });
    server.on('error', reject);
    server.once('connection', (far) => {
      server.close();
      far.on('error', () => undefined);
      far.write(nonce);
      source.onceFirst((chunk) => {
        if (chunk.equals(nonce)) resolve({ near, far });
        else reject(new Error('somebody else connected to the private socket'));
      });
    });
    let near: Socket;
    server.listen(path, () => {
      near = connect({ path, allowHalfOpen: true, onread: source.onread } as SocketConnectOpts);
      near.on('error', reject);
      source.attach(near);
    });
  });
}

/** Real pipes: named ones that lose their names at once. Throws where `mkfifo` is missing. */
function openPipes(): ChildStdio {
  const directory = makeTemporaryDirectory();
  try {
    const [input, output] = [join(directory, 'in'), join(directory, 'out')];
    execFileSync('mkfifo', [input, output], { stdio: 'ignore' });
    // A reader that does not wait for a writer, then the writer: in this order none of the four blocks.
    const farInput = openSync(input, constants.O_RDONLY | constants.O_NONBLOCK);
    const nearInput = openSync(input, constants.O_WRONLY | constants.O_NONBLOCK);
    const nearOutput = openSync(output, constants.O_RDONLY | constants.O_NONBLOCK);
    const farOutput = openSync(output, constants.O_WRONLY | constants.O_NONBLOCK);
    return pipesOf({ nearInput, nearOutput, far: [farInput, farOutput] });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Descriptors {
  readonly nearInput: number;
  readonly nearOutput: number;
  readonly far: readonly [number, number];
}

function pipesOf({ nearInput, nearOutput, far }: Descriptors): ChildStdio {
  const source = new SocketSource();
  const output = socketOf(nearOutput, { readable: true, writable: false, onread: source.onread });
  const input = socketOf(nearInput, { readable: false, writable: true });
  if (output === null || input === null) throw new TypeError('a pipe is not a pipe');
  source.attach(output);
  return { source, sink: new ByteSink(input), far, releaseFar: () => far.forEach(closeSync) };
}
