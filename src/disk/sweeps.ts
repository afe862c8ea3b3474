import type { Clock } from './clock.ts';

export interface SweepsOptions {
  readonly clock: Clock;
  /** One sweep; resolves to what it took of the processor's time, in ms. */
  readonly sweep: () => Promise<number>;
}

const SWEEP_MS = 2_000;
/**
 * Sweeps, and what else there is to do while nothing happens, take at most one part of so many of the processor's time: with
 * the sweeps of the policies (policy/watch-policies.ts), less than a hundredth.
 */
export const ROOT_SWEEP_SHARE = 160;

/** Sweeps one after the other, and rests in between the longer the more a sweep takes. */
export class Sweeps {
  readonly #options: SweepsOptions;
  #count = 0;
  #lastMs = 0;
  #running: Promise<void> = Promise.resolve();
  #queued: Promise<void> | null = null;
  #cancelNext: () => void = () => {};
  #isClosed = false;

  constructor(options: SweepsOptions) {
    this.#options = options;
  }

  /** How many there have been, and what the last one took of the processor's time. */
  counts(): { readonly sweeps: number; readonly lastSweepMs: number } {
    return { sweeps: this.#count, lastSweepMs: this.#lastMs };
  }

  /** Resolves when one that has begun after this is over. */
  next(): Promise<void> {
    this.#queued ??= this.#running.then(() => {
      this.#queued = null;
      this.#running = this.#sweepNow();
      return this.#running;
    });
    return this.#queued;
  }

  /** The next one by itself begins then, and not when it was said before. */
  nextIn(delayMs: number): void {
    if (this.#isClosed) return;
    this.#cancelNext();
    this.#cancelNext = this.#options.clock.after(delayMs, () => void this.next());
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelNext();
  }

  async #sweepNow(): Promise<void> {
    if (this.#isClosed) return;
    this.#cancelNext();
    this.#lastMs = await this.#options.sweep();
    this.#count += 1;
    this.nextIn(Math.max(SWEEP_MS, ROOT_SWEEP_SHARE * this.#lastMs));
  }
}
