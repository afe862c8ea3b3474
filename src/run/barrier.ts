import type { Timer } from '../client/timer.ts';

/** No call waits longer for a server that does not ask for its new list. */
const LONGEST_MS = 1_000;

/**
 * After a change calls wait until the server has asked for its list again and has had time to take it up: a server that has
 * just been answered still works by the old one.
 */
export class Barrier {
  readonly #timer: Timer;
  readonly #onOpen: () => void;
  #cancelDeadline: (() => void) | null = null;
  #cancelSettling: (() => void) | null = null;

  constructor(timer: Timer, onOpen: () => void) {
    this.#timer = timer;
    this.#onOpen = onOpen;
  }

  get isClosed(): boolean {
    return this.#cancelDeadline !== null;
  }

  /** The list is another one now. What was answered before does not count. */
  close(): void {
    this.#cancelSettling?.();
    this.#cancelSettling = null;
    this.#cancelDeadline ??= this.#timer(LONGEST_MS, () => this.open());
  }

  /** The server was told what holds, and has taken it up so much later. */
  answered(settleMs: number): void {
    if (!this.isClosed) return;
    this.#cancelSettling?.();
    this.#cancelSettling = this.#timer(settleMs, () => this.open());
  }

  /** Nobody is waited for. */
  open(): void {
    if (!this.isClosed) return;
    this.#cancelDeadline?.();
    this.#cancelSettling?.();
    this.#cancelDeadline = null;
    this.#cancelSettling = null;
    this.#onOpen();
  }
}
