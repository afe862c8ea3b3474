import type { Clock } from '../disk/clock.ts';

/** So many a second for as long as one likes … */
const PER_SECOND = 50;
/** … and so many at once. */
const BURST = 100;

/** What one session may ask for in a time. */
export class RequestRate {
  readonly #clock: Clock;
  #left = BURST;
  #atMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#atMs = clock.now();
  }

  /** Counts a request; how long to wait where it is one too many, which is not counted. */
  take(): { readonly waitMs: number } | null {
    const now = this.#clock.now();
    this.#left = Math.min(BURST, this.#left + ((now - this.#atMs) * PER_SECOND) / 1_000);
    this.#atMs = now;
    if (this.#left < 1) return { waitMs: Math.ceil(((1 - this.#left) * 1_000) / PER_SECOND) };
    this.#left -= 1;
    return null;
  }
}
