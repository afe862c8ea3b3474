/** So many in a stretch of time. What is over is counted, to be said with the next one. */
export class Quota {
  readonly #limit: number;
  readonly #windowMs: number;
  #sinceMs = Number.NEGATIVE_INFINITY;
  #taken = 0;
  #left = 0;

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** How many have been left out since the last one that was not; null: this one is left out too. */
  take(nowMs: number): number | null {
    if (nowMs - this.#sinceMs >= this.#windowMs) {
      this.#sinceMs = nowMs;
      this.#taken = 0;
    }
    if (this.#taken >= this.#limit) {
      this.#left += 1;
      return null;
    }
    const left = this.#left;
    this.#taken += 1;
    this.#left = 0;
    return left;
  }
}
