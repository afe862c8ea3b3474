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
}
