import { nextTurn, runOneSlice, SLICE_MS } from './slices.ts';

interface Task {
  readonly steps: Iterator<void>;
  readonly isCancelled: () => boolean;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Takes the steps of many at once: all of them together have SLICE_MS between two turns of everybody else, one after the
 * other. runInSlices() would give so much to every one.
 */
export class SharedSlices {
  readonly #tasks: Task[] = [];
  #isRunning = false;

  /** Resolves when the steps have ended or `isCancelled` says so; throws what they throw. Begins at once where it can. */
  run(steps: Iterator<void>, isCancelled: () => boolean): Promise<void> {
    return new Promise((done, failed) => {
      this.#tasks.push({ steps, isCancelled, done, failed });
      if (!this.#isRunning) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#tasks.length > 0) {
      const endMs = performance.now() + SLICE_MS;
      do this.#runNext(endMs);
      while (this.#tasks.length > 0 && performance.now() < endMs);
      if (this.#tasks.length > 0) await nextTurn();
    }
    this.#isRunning = false;
  }

  /** What is left of a slice for the one that has waited longest. */
  #runNext(endMs: number): void {
    const task = this.#tasks.shift();
    if (task === undefined) return;
    try {
      if (task.isCancelled() || runOneSlice(task.steps, endMs)) task.done();
      else this.#tasks.push(task);
    } catch (error) {
      task.failed(error);
    }
  }
}
