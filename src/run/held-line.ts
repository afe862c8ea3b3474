/** What a short line takes. */
const FIRST_BYTES = 16_384;
/** So many times as much when more is needed, and so much at most: what is not filled costs nothing, but to fill anew does. */
const GROWTH = 8;
const MAX_GROWTH_BYTES = 16 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * The beginning of a line whose end has not come, in one piece. Its memory serves the next line again, as long as that is a
 * long one too: to take new memory for megabytes takes longer than to fill it.
 */
export class HeldLine {
  #memory: Buffer = NOTHING;
  #length = 0;
  /** The memory is being written, and must not change. */
  #isLent = false;

  get length(): number {
    return this.#length;
  }

  append(bytes: Buffer): void {
    this.#put(bytes);
    this.#length += bytes.length;
  }

  /** What is held with these bytes behind, which are not held by that. Valid until the next call. */
  with(last: Buffer): Buffer {
    if (this.#length === 0) return last;
    this.#put(last);
    return this.#memory.subarray(0, this.#length + last.length);
  }

  /** Holds nothing any more; `isLent`: the memory is still needed, until reclaim(). */
  clear(isLent: boolean): void {
    this.#length = 0;
    this.#isLent = isLent;
  }

  /** The memory is somebody else's from now on. */
  giveAway(): void {
    this.#length = 0;
    this.#memory = NOTHING;
    this.#isLent = false;
  }

  /** What was lent is not needed any more. */
  reclaim(): void {
    this.#isLent = false;
  }

  /** There was a short line: the memory of a long one is let go. */
  shrink(): void {
    if (this.#length === 0 && this.#memory.length > FIRST_BYTES) this.giveAway();
  }

  #put(bytes: Buffer): void {
    if (this.#isLent) this.giveAway();
    const length = this.#length + bytes.length;
    if (length > this.#memory.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, grownBytes(this.#memory.length)));
      this.#memory.copy(grown, 0, 0, this.#length);
      this.#memory = grown;
    }
    bytes.copy(this.#memory, this.#length);
  }
}

function grownBytes(bytes: number): number {
  return Math.max(FIRST_BYTES, Math.min(GROWTH * bytes, bytes + MAX_GROWTH_BYTES));
}
