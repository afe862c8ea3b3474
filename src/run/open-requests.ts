import type { RpcError } from '../core/protocol.ts';
import type { LineWriter } from './line-writer.ts';

/** Requests of the host that the server has not answered. Ids are JSON texts. */
export class OpenRequests {
  readonly #onSettled: (id: string) => void;
  readonly #ids = new Set<string>();
  /** Those that stay open for as long as the host wants: nobody waits for their end. */
  readonly #lasting = new Set<string>();
  #whenEmpty: (() => void)[] = [];
  #hasSeenOne = false;

  /** `onSettled`: one of them has its answer, or needs none any more. */
  constructor(onSettled: (id: string) => void = () => undefined) {
    this.#onSettled = onSettled;
  }

  /** Has the host asked anything yet? */
  get hasSeenOne(): boolean {
    return this.#hasSeenOne;
  }

  add(id: string): void {
    this.#hasSeenOne = true;
    this.#ids.add(id);
  }

  /** A request that is open until the host does not want it any more. */
  addLasting(id: string): void {
    this.#hasSeenOne = true;
    this.#lasting.add(id);
  }

  settle(id: string): void {
    this.#onSettled(id);
    this.#lasting.delete(id);
    if (!this.#ids.delete(id) || this.#ids.size > 0) return;
    for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  /** Resolves as soon as none is open that has an end. */
  whenEmpty(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#ids.size === 0) resolve();
      else this.#whenEmpty.push(resolve);
    });
  }

  /** Answers all that are open in the server's place. */
  fail(host: LineWriter, error: RpcError): void {
    this.#fail(host, error, [...this.#ids, ...this.#lasting]);
  }

  /** The same where another process goes on: what lasts and this one (`except`) are its affair. */
  failCalls(host: LineWriter, error: RpcError, except: string | null): void {
    this.#fail(
      host,
      error,
      [...this.#ids].filter((open) => open !== except),
    );
  }

  #fail(host: LineWriter, error: RpcError, ids: readonly string[]): void {
    for (const id of ids) {
      host.insert(errorLine(id, error));
      this.settle(id);
    }
  }
}

/** `id` is a JSON text. */
export function errorLine(id: string, error: RpcError): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`;
}
