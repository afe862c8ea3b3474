import type { Hint } from './hints.ts';

/** Something that is kept true by looking at the disk again. */
export interface Looking {
  /** Directories whose events concern it. Another list only if it has changed. */
  readonly hints: readonly Hint[];
  /** When to look again though nothing hints at it, or null. */
  readonly dueMs: number | null;
  /**
   * Looks again, a step at a time, and says in the end whether its findings have changed. Hints that it has after a step
   * are watched before the next one.
   */
  look(nowMs: number): Generator<void, boolean>;
  /** An entry of a hinted directory came or went; null: the directory itself. True: lookAtEntries() will do for this. */
  hear?(directory: string, entry: string | null): boolean;
  /** As look(), but only at the entries that were heard of since the last time. */
  lookAtEntries?(nowMs: number): Generator<void, boolean>;
}
