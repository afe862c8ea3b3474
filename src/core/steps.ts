// Work that may take long is a generator that yields between its steps: whoever wants it now takes them at once, whoever has
// others to serve takes them in slices (disk/slices.ts).

/** Takes all steps now. */
export function runAtOnce<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
