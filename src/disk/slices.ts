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
    if (ended) return spentMs;
    if (!isCancelled()) await nextTurn();
    if (!isCancelled()) continue;
    // What they have opened is to be closed.
    steps.return?.();
    return spentMs;
  }
}

/**
 * The result of steps that are taken in slices; null where they were cancelled. What comes after it begins in a turn of its
 * own, or the last slice and the first of what follows would be one.
 */
export async function resultInSlices<T>(
  steps: Generator<void, T>,
  isCancelled: () => boolean,
): Promise<{ readonly value: T } | null> {
  let result: { readonly value: T } | null = null;
  function* toTheEnd(): Generator<void, void> {
    result = { value: yield* steps };
  }
  await runInSlices(toTheEnd(), isCancelled);
  await nextTurn();
  return result;
}

/** Lets everybody else have a turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Takes steps until then, but one at least. Have they ended? */
export function runOneSlice(steps: Iterator<void>, endMs: number): boolean {
  do {
    if (steps.next().done) return true;
  } while (performance.now() < endMs);
  return false;
}
