// What is to be found out about a line at once where that takes a moment, and beside everything else where it takes longer:
// whoever wants to know is told to wait, and asks again with the same line.

import { SharedSlices } from '../../disk/shared-slices.ts';

/** So many steps are taken at once however long they take: nearly all lines are done with then. */
const STEPS_AT_ONCE = 256;
/** What nobody asks for any more is let go beyond. */
const MAX_KEPT = 8;

interface Job<T> {
  readonly line: Buffer;
  result: { readonly value: T } | null;
  isTaken: boolean;
  isDropped: boolean;
}

export class LongWork<T> {
  readonly #onDone: () => void;
  readonly #slices = new SharedSlices();
  #jobs: Job<T>[] = [];

  /** `onDone`: who was told to wait may ask again. */
  constructor(onDone: () => void) {
    this.#onDone = onDone;
  }

  /** The result of the steps for a line; `wait`: ask again with the same line. A result `wait` is not kept. */
  do(line: Buffer, begin: () => Generator<void, T>): T | 'wait' {
    const known = this.#jobs.find((job) => job.line.equals(line));
    if (known !== undefined) {
      known.isTaken = known.result !== null;
      return known.result === null ? 'wait' : known.result.value;
    }
    const steps = begin();
    for (let taken = 0; taken < STEPS_AT_ONCE; taken++) {
      const step = steps.next();
      if (step.done) return step.value;
    }
    void this.#goOn(line, steps);
    return 'wait';
  }

  /** What was taken is not asked for again. */
  forgetTaken(): void {
    this.#jobs = this.#jobs.filter((job) => !job.isTaken);
  }

  /** Nothing of what was found out holds any more; who waits asks anew. */
  drop(): void {
    if (this.#jobs.length > 0) setImmediate(this.#onDone);
    this.close();
  }

  /** Nobody asks any more. */
  close(): void {
    for (const job of this.#jobs) job.isDropped = true;
    this.#jobs = [];
  }

  async #goOn(line: Buffer, steps: Generator<void, T>): Promise<void> {
    // Its bytes are somebody else's.
    const job: Job<T> = { line: Buffer.from(line), result: null, isTaken: false, isDropped: false };
    this.#jobs = [...this.#jobs.filter(({ result }, i, { length }) => result === null || length - i < MAX_KEPT), job];
    let value: T | 'wait' = 'wait';
    function* all(): Generator<void, void> {
      value = yield* steps;
    }
    await this.#slices.run(all(), () => job.isDropped);
    if (job.isDropped) return;
    if (value === 'wait') this.#jobs = this.#jobs.filter((one) => one !== job);
    else {
      job.result = { value };
      this.#onDone();
    }
  }
}
