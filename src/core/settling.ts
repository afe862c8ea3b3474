// When is a file ready to be read? A save is several steps: truncate and write, write beside and rename, flip a link. What
// is read in between is a policy that nobody wrote. Pure: signatures and times come in, verdicts go out.

/** How long everything must have looked the same. */
export const STABLE_MS = 150;
/**
 * Then it is read whatever it looks like: something that is rewritten all the time must not keep a change away. Less than
 * the 2 s that are promised, for what is rewritten every 100 ms is seen again only at its next writing.
 */
export const LONGEST_WAIT_MS = 1_800;

export type Settled =
  /** As it was told last. */
  | { readonly state: 'quiet' }
  | { readonly state: 'unsettled'; readonly lookAgainInMs: number }
  /** To be read now: each change is told once. */
  | { readonly state: 'changed' };

/** Follows the signature of one place. */
export class Settling {
  #told: string | null;
  #seen: string;
  #seenAtMs: number;
  /** When the first change was seen that has not been told. */
  #waitingSinceMs: number | null = null;

  /** `signature` is what the first read will see, or an older one. */
  constructor(signature: string, nowMs: number) {
    this.#told = signature;
    this.#seen = signature;
    this.#seenAtMs = nowMs;
  }

  /** What to do now that the place looks like `signature`. */
  observe(signature: string, nowMs: number): Settled {
    if (signature !== this.#seen) {
      this.#seen = signature;
      this.#seenAtMs = nowMs;
      this.#waitingSinceMs ??= nowMs;
    }
    if (this.#waitingSinceMs === null && this.#seen === this.#told) return { state: 'quiet' };
    const lookAgainInMs = this.#readyAtMs() - nowMs;
    if (lookAgainInMs > 0) return { state: 'unsettled', lookAgainInMs };
    this.#waitingSinceMs = null;
    if (this.#seen === this.#told) return { state: 'quiet' };
    this.#told = this.#seen;
    return { state: 'changed' };
  }

  /** What was told could not be read: tell it again at the next look, even if nothing has changed. */
  forget(): void {
    this.#told = null;
  }

  #readyAtMs(): number {
    const stableAtMs = this.#seenAtMs + STABLE_MS;
    return this.#waitingSinceMs === null ? stableAtMs : Math.min(stableAtMs, this.#waitingSinceMs + LONGEST_WAIT_MS);
  }
}
