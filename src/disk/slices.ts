/** The longest stretch for which a sweep holds up everything else. */
export const SLICE_MS = 5;

/**
 * Takes steps until they end or `isCancelled` says so, at most SLICE_MS at a stretch; the first stretch begins at once.
 * Resolves to the milliseconds spent in the steps.
 */
export async function runInSlices(steps: Iterator<void>, isCancelled: () => boolean): Promise<number> {
  let spentMs = 0;
  for (;;) {
    const begin = performance.now();
    const ended = runOneSlice(steps, begin + SLICE_MS);
    spentMs += performance.now() - begin;
    if (ended || isCancelled()) return spentMs;
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (isCancelled()) return spentMs;
  }
}

/** Takes all steps now. */
export function runAtOnce<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

function runOneSlice(steps: Iterator<void>, endMs: number): boolean {
  do {
    if (steps.next().done) return true;
  } while (performance.now() < endMs);
  return false;
}
