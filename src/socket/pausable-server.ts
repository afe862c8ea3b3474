import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { descriptorOf } from './descriptor-of.ts';

export interface ListenHandlers {
  /** Nothing has been read from the socket yet; it must be resumed. */
  readonly onConnection: (socket: Socket) => void;
  /** A connection could not be accepted (no descriptors are left); listening goes on. */
  readonly onError: (error: Error) => void;
  /** Makes a second descriptor of one; without it there is no pause. */
  readonly duplicate?: ((fd: number) => number) | undefined;
}

/**
 * A server that can stop accepting. Node's cannot: closing it closes the socket and cuts off whoever waits to be accepted.
 * Here a second descriptor keeps the socket open meanwhile, and a new server takes that over.
 */
export class PausableServer {
  readonly #handlers: ListenHandlers;
  readonly #backlog: number;
  #server: Server;
  /** While paused. */
  #keptFd: number | null = null;

  constructor(handlers: ListenHandlers, backlog: number) {
    this.#handlers = handlers;
    this.#backlog = backlog;
    this.#server = this.#create();
  }

  get isOpen(): boolean {
    return this.#server.listening || this.#keptFd !== null;
  }

  listen(at: { readonly path: string } | { readonly fd: number }): void {
    this.#server.listen({ ...at, backlog: this.#backlog });
  }

  /** Resolves once it listens; rejects where it cannot. */
  async started(): Promise<void> {
    await once(this.#server, 'listening');
  }

  /** From now on errors are those of single connections. */
  opened(): void {
    this.#server.on('error', this.#handlers.onError);
  }

  /** Accepts nothing until resume(); connections wait in the kernel. False where that cannot be done. */
  pause(): boolean {
    const { duplicate } = this.#handlers;
    if (duplicate === undefined || !this.#server.listening) return false;
    this.#keptFd = duplicate(descriptorOf(this.#server));
    this.#server.close();
    return true;
  }

  resume(): void {
    if (this.#keptFd === null) return;
    const fd = this.#keptFd;
    this.#keptFd = null;
    this.#server = this.#create();
    this.opened();
    this.listen({ fd });
  }

  /** Accepts nothing any more. */
  close(): void {
    if (this.#keptFd !== null) closeSync(this.#keptFd);
    this.#keptFd = null;
    this.#server.close();
  }

  #create(): Server {
    return createServer({ pauseOnConnect: true, allowHalfOpen: true }, this.#handlers.onConnection);
  }
}
