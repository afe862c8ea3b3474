type Compare<T> = (a: T, b: T) => number;

/** So much is sorted, or merged, in one step. */
const STEP = 256;

/** The values in order, as toSorted() gives them, a little at a step: there may be a hundred thousand. */
export function* sortInSteps<T>(values: readonly T[], compare: Compare<T>): Generator<void, readonly T[]> {
  let runs: (readonly T[])[] = [];
  for (let at = 0; at < values.length; at += STEP) {
    runs.push(values.slice(at, at + STEP).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(yield* merge(runs[at] ?? [], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(left: readonly T[], right: readonly T[], compare: Compare<T>): Generator<void, readonly T[]> {
  const merged: T[] = [];
  let [at, from] = [0, 0];
  while (at < left.length || from < right.length) {
    const takesLeft = from >= right.length || (at < left.length && compare(left[at] as T, right[from] as T) <= 0);
    merged.push((takesLeft ? left[at++] : right[from++]) as T);
    if (merged.length % STEP === 0) yield;
  }
  return merged;
}
