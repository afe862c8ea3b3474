/** Time for what waits; tests bring their own. */
export interface Clock {
  /** Milliseconds, never going back. */
  now(): number;
  /** Milliseconds since 1970, as files are stamped; may go back. */
  epochMs(): number;
  /** Calls back once after `delayMs`, unless the function it returns is called before. Keeps no process alive. */
  after(delayMs: number, run: () => void): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  epochMs: Date.now,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/** The same, but a process lives until what waits has come. */
export const LIVE_CLOCK: Clock = {
  ...SYSTEM_CLOCK,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
