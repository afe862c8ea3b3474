import type { Socket } from 'node:net';
import { type Id, RPC, type RpcError } from '../core/protocol.ts';
import { connectTo, DEFAULT_DEADLINE_MS, LostConnection } from './connect.ts';
import { JsonLineReader } from './json-lines.ts';
import { realTimer, type Timer } from './timer.ts';

/** One buffer for all that comes: what is not needed at once is copied (core/line-reader.ts). */
const READ_BYTES = 65_536;

/** The daemon answered a request with an error. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }

  /** The code of `core/errors.ts` that the daemon gave, or undefined. */
  get code(): string | undefined {
    const { data } = this.error;
    const code = typeof data === 'object' && data !== null && 'code' in data ? data.code : undefined;
    return typeof code === 'string' ? code : undefined;
  }

  /** What to try, or undefined. */
  get hint(): string | undefined {
    const { data } = this.error;
    const hint = typeof data === 'object' && data !== null && 'hint' in data ? data.hint : undefined;
    return typeof hint === 'string' ? hint : undefined;
  }
}

export { LostConnection };

export interface ConnectionOptions {
  readonly onNotification?: (method: string, params: unknown) => void;
  readonly onClose?: () => void;
  /** Of each request, in ms. */
  readonly deadlineMs?: number;
  readonly timer?: Timer;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly cancel: () => void;
}

/** A connection to one of the daemon's sockets. Connect with `Connection.open()`. */
export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #waiting = new Map<Id, Waiting>();
  readonly #reader = new JsonLineReader((message) => this.#take(message));
  #nextId = 1;
  #closed = false;

  /** Rejects with a LostConnection where nobody listens at that path, or is too busy to take us until the deadline. */
  static async open(path: string, options: ConnectionOptions = {}): Promise<Connection> {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    // The daemon says nothing before it is asked something.
    const callback = (bytes: number): boolean => {
      connection.#read(buffer.subarray(0, bytes));
      return true;
    };
    const socket = await connectTo(path, { ...options, onread: { buffer, callback } });
    const connection = new Connection(socket, options);
    return connection;
  }

  private constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('error', () => this.close());
    socket.on('close', () => this.close());
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Asks and waits for the result. Rejects with a RefusedRequest or a LostConnection. */
  request(method: string, params: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new LostConnection('the connection is closed'));
      const { deadlineMs = DEFAULT_DEADLINE_MS, timer = realTimer } = this.#options;
      const id = this.#nextId++;
      const cancel = timer(deadlineMs, () => {
        this.#waiting.delete(id);
        reject(new LostConnection(`"${method}" was not answered within ${deadlineMs} ms`));
      });
      this.#waiting.set(id, { resolve, reject, cancel });
      this.#send({ jsonrpc: '2.0', id, method, params });
    });
  }

  notify(method: string, params: unknown): void {
    if (!this.#closed) this.#send({ jsonrpc: '2.0', method, params });
  }

  /** Ends the connection; what still waits is rejected. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.destroy();
    for (const { reject, cancel } of this.#waiting.values()) {
      cancel();
      reject(new LostConnection('the connection was closed'));
    }
    this.#waiting.clear();
    this.#options.onClose?.();
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.close();
      // What is no message is the daemon's fault; all else is that of whoever was told.
      if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    }
  }

  #send(message: object): void {
    this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  #take(message: unknown): void {
    if (typeof message !== 'object' || message === null) return;
    const { id, method, params, result, error } = message as Readonly<Record<string, unknown>>;
    if (typeof method === 'string') {
      if (id === undefined) this.#options.onNotification?.(method, params);
      else this.#send({ jsonrpc: '2.0', id, error: { code: RPC.methodNotFound, message: 'Method not found' } });
      return;
    }
    const waiting = this.#waiting.get(id as Id);
    if (waiting === undefined) return;
    this.#waiting.delete(id as Id);
    waiting.cancel();
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new RefusedRequest(toRpcError(error)));
  }
}

/** The error of a reply, whatever it holds. */
export function toRpcError(error: unknown): RpcError {
  const { code, message, data } = (typeof error === 'object' && error !== null ? error : {}) as Partial<RpcError>;
  return {
    code: Number(code),
    message: String(message ?? 'the daemon refused'),
    ...(data === undefined ? {} : { data }),
  };
}
