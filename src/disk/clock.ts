/** Time for what waits; tests bring their own. */
export interface Clock {
  /** Milliseconds, never going back. */
  now(): number;
  /** Calls back once after `delayMs`, unless the function it returns is called before. Keeps no process alive. */
  after(delayMs: number, run: () => void): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
