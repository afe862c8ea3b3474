import { RPC, type RpcError } from '../core/protocol.ts';
import type { LineWriter } from './line-writer.ts';
import type { ServerRequests } from './server-requests.ts';

const MAX_HELD = 64;
const MAX_HELD_BYTES = 1024 * 1024;
const LINE_FEED = 0x0a;

/** To a server that asks too much while a person is asked something else. */
export const PERSON_IS_BUSY: RpcError = {
  code: RPC.internal,
  message: 'The person is being asked something else: too many questions wait',
};

/** Questions of the server to the person at the host: while one of ours is open they wait, so that nobody mixes them up. */
export class HeldQuestions {
  readonly #host: LineWriter;
  readonly #fromServer: ServerRequests;
  /** By id, a JSON text. */
  readonly #lines = new Map<string, Buffer>();
  #bytes = 0;

  constructor(host: LineWriter, fromServer: ServerRequests) {
    this.#host = host;
    this.#fromServer = fromServer;
  }

  /** false: there are too many. */
  hold(id: string, line: Buffer): boolean {
    if (this.#lines.size === MAX_HELD || this.#bytes + line.length > MAX_HELD_BYTES) return false;
    this.cancel(id);
    this.#lines.set(id, Buffer.from(line));
    this.#bytes += line.length;
    return true;
  }

  /** The server gives one up; false: it is not held. */
  cancel(id: string): boolean {
    this.#bytes -= this.#lines.get(id)?.length ?? 0;
    return this.#lines.delete(id);
  }

  /** They go on, in the order in which they came. */
  release(): void {
    for (const [id, line] of this.#lines) {
      this.#fromServer.add(id);
      this.#host.insert([line.at(-1) === LINE_FEED ? line.subarray(0, -1) : line]);
    }
    this.forget();
  }

  /** The process that asks is gone. */
  forget(): void {
    this.#lines.clear();
    this.#bytes = 0;
  }
}
