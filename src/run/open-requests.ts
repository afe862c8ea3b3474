import type { RpcError } from '../core/protocol.ts';
import type { LineWriter } from './line-writer.ts';

/** Requests of the host that the server has not answered. Ids are JSON texts. */
export class OpenRequests {
  readonly #ids = new Set<string>();
  #whenEmpty: (() => void)[] = [];
  #hasSeenOne = false;

  /** Has the host asked anything yet? */
  get hasSeenOne(): boolean {
    return this.#hasSeenOne;
  }

  add(id: string): void {
    this.#hasSeenOne = true;
    this.#ids.add(id);
  }

  settle(id: string): void {
    if (!this.#ids.delete(id) || this.#ids.size > 0) return;
    for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  /** Resolves as soon as none is open. */
  whenEmpty(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#ids.size === 0) resolve();
      else this.#whenEmpty.push(resolve);
    });
  }

  /** Answers all that are open (but `except`) in the server's place. */
  fail(host: LineWriter, error: RpcError, except: string | null = null): void {
    for (const id of [...this.#ids].filter((open) => open !== except)) {
      host.insert(errorLine(id, error));
      this.settle(id);
    }
  }
}

/** `id` is a JSON text. */
export function errorLine(id: string, error: RpcError): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`;
}
