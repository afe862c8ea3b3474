import { connect, type OnReadOpts, type Socket } from 'node:net';
import { realTimer, type Timer } from './timer.ts';

/** Of connecting, and of each request. */
export const DEFAULT_DEADLINE_MS = 5_000;
/** Between two attempts at a socket whose queue is full. */
const BUSY_MS = 20;

/** The connection ended, or the daemon did not answer in time. */
export class LostConnection extends Error {
  override readonly name = 'LostConnection';
}

export interface ConnectOptions {
  readonly deadlineMs?: number;
  readonly timer?: Timer;
  /** Takes what comes, in place of the socket's `data`. */
  readonly onread?: OnReadOpts;
}

/** Connects. Rejects with a LostConnection where nobody listens at that path, or is too busy to take us until the deadline. */
export async function connectTo(
  path: string,
  { deadlineMs = DEFAULT_DEADLINE_MS, timer = realTimer, onread }: ConnectOptions,
): Promise<Socket> {
  for (let waitedMs = 0; ; waitedMs += BUSY_MS) {
    try {
      return await connectOnce(path, onread);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // The queue of who wants to connect is full: somebody listens, and will come to us.
      if (code !== 'EAGAIN' || waitedMs >= deadlineMs) {
        throw new LostConnection(`"${path}": ${code ?? message}`, { cause: error });
      }
    }
    await new Promise<void>((resolve) => {
      timer(BUSY_MS, resolve);
    });
  }
}

function connectOnce(path: string, onread: OnReadOpts | undefined): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(onread === undefined ? { path } : { path, onread });
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.off('error', fail);
      resolve(socket);
    });
  });
}
