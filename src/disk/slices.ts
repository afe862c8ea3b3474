/** The longest stretch for which a sweep holds up everything else. */
export const SLICE_MS = 5;

/**
 * Takes steps until they end or `isCancelled` says so, at most SLICE_MS at a stretch; the first stretch begins at once.
 * Resolves to the milliseconds of processor time that the steps took, of all threads: waiting for the disk is free.
 */
export async function runInSlices(steps: Iterator<void>, isCancelled: () => boolean): Promise<number> {
  let spentMs = 0;
  for (;;) {
    const before = process.cpuUsage();
    const ended = runOneSlice(steps, performance.now() + SLICE_MS);
    const { user, system } = process.cpuUsage(before);
    spentMs += (user + system) / 1_000;
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
