import type { Timer } from '../client/timer.ts';
import { randomBytes } from '../disk/random.ts';

/** Ids of our own requests: nobody else's request can have one by accident, and nobody can guess one that is open. */
export class OwnIds {
  readonly #prefix = `"rootsd-${randomBytes(16).toString('hex')}-`;
  #last = 0;

  /** A new id, as a JSON text. */
  next(): string {
    this.#last += 1;
    return `${this.#prefix}${this.#last}"`;
  }

  /** Was this id (a JSON text) made here? */
  has(id: string | null): boolean {
    return id?.startsWith(this.#prefix) ?? false;
  }
}

/** What the other side answered; null: nothing in time. */
export type Reply = { readonly result?: unknown; readonly error?: unknown } | null;

interface Open {
  readonly resolve: (reply: Reply) => void;
  readonly cancel: () => void;
}

/** Our requests to one side that wait for their answers. */
export class OwnRequests {
  readonly #ids: OwnIds;
  readonly #timer: Timer;
  readonly #open = new Map<string, Open>();

  constructor(ids: OwnIds, timer: Timer) {
    this.#ids = ids;
    this.#timer = timer;
  }

  /**
   * Opens a request, which the caller writes under the given id. Silence counts only where `isHeard` says that the other
   * side was read at the deadline: else it gets another one.
   */
  open(
    deadlineMs: number,
    isHeard: () => boolean = () => true,
  ): { readonly id: string; readonly reply: Promise<Reply> } {
    const id = this.#ids.next();
    const reply = new Promise<Reply>((resolve) => {
      const wait = (): void => {
        const cancel = this.#timer(deadlineMs, () => (isHeard() ? this.#settle(id, null) : wait()));
        this.#open.set(id, { resolve, cancel });
      };
      wait();
    });
    return { id, reply };
  }

  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  isOpen(id: string | null): boolean {
    return id !== null && this.#open.has(id);
  }

  /** Takes an answer to one of our requests; a late one is nobody's. One that is not JSON says nothing. */
  answer(id: string, line: Buffer): void {
    if (this.#open.has(id)) this.#settle(id, parseReply(line));
  }

  /** Nobody wants the answer any more. */
  giveUp(id: string): void {
    this.#settle(id, null);
  }

  /** The other side is gone: nothing will be answered. */
  abandon(): void {
    for (const id of [...this.#open.keys()]) this.#settle(id, null);
  }

  #settle(id: string, reply: Reply): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    open?.cancel();
    open?.resolve(reply);
  }
}

function parseReply(line: Buffer): Reply {
  try {
    return JSON.parse(line.toString('utf8')) as Reply;
  } catch {
    return {};
  }
}
