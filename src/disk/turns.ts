/** One piece of work that waits. */
interface Waiting {
  readonly begin: () => Promise<void>;
  /** It is not done any more. */
  readonly drop: () => void;
}

/**
 * Lets few works go on at once, and one of each client: those of a client in order, and the clients in turn, so that who
 * wants much waits for himself.
 */
export class Turns {
  readonly #limit: number;
  /** By the signal that says that the client is gone; who is next comes first. */
  readonly #waiting = new Map<AbortSignal, Waiting[]>();
  readonly #working = new Set<AbortSignal>();
  #isClosed = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The result of the work; null where the client was gone, or all was closed, before its turn came. */
  take<T>(client: AbortSignal, work: () => Promise<T>): Promise<T | null> {
    if (this.#isClosed) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      const waiting = { begin: () => work().then(resolve, reject), drop: () => resolve(null) };
      const queue = this.#waiting.get(client);
      if (queue === undefined) this.#waiting.set(client, [waiting]);
      else queue.push(waiting);
      this.#beginNext();
    });
  }

  /** Drops all that waits. */
  close(): void {
    this.#isClosed = true;
    for (const client of this.#waiting.keys()) this.#drop(client);
  }

  #beginNext(): void {
    for (const [client, queue] of this.#waiting) {
      if (client.aborted) this.#drop(client);
      else if (this.#working.size < this.#limit && !this.#working.has(client)) this.#begin(client, queue);
    }
  }

  #begin(client: AbortSignal, queue: Waiting[]): void {
    const next = queue.shift();
    if (queue.length === 0) this.#waiting.delete(client);
    this.#working.add(client);
    void next?.begin().finally(() => {
      this.#working.delete(client);
      this.#putLast(client);
      this.#beginNext();
    });
  }

  /** Whoever has had a turn comes behind all others. */
  #putLast(client: AbortSignal): void {
    const queue = this.#waiting.get(client);
    if (queue === undefined) return;
    this.#waiting.delete(client);
    this.#waiting.set(client, queue);
  }

  #drop(client: AbortSignal): void {
    for (const { drop } of this.#waiting.get(client) ?? []) drop();
    this.#waiting.delete(client);
  }
}
