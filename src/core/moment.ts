// Time that setting a clock cannot stretch. A grant of eight hours must end after eight hours: the wall clock can be set
// back, the clock of the boot starts again with it, and a process stands still while the machine is suspended.

/** One instant, by two clocks. */
export interface Moment {
  /** Milliseconds since 1970. May be set. */
  readonly wallMs: number;
  /** Of which boot `bootMs` counts. */
  readonly boot: string;
  /** Milliseconds since then, suspend included. Cannot be set. */
  readonly bootMs: number;
}

/**
 * Has this long passed? Whichever clock says so is believed.
 * INVARIANT: where it cannot be known (another boot, a clock that went backwards) it has.
 */
export function hasPassed(since: Moment, ms: number, now: Moment): boolean {
  return remainingMs(since, ms, now) <= 0;
}

/** How much of `ms` is left, by the clock that leaves less; 0 where it cannot be known. */
export function remainingMs(since: Moment, ms: number, now: Moment): number {
  const elapsedMs = now.bootMs - since.bootMs;
  if (now.boot !== since.boot || elapsedMs < 0) return 0;
  return Math.max(0, ms - Math.max(elapsedMs, now.wallMs - since.wallMs));
}

/** Wall time that never goes back, over restarts and boots too: for what ends when it has not been used for months. */
export interface LastingTime {
  readonly ms: number;
  readonly at: Moment;
}

export function lastingFrom(at: Moment): LastingTime {
  return { ms: at.wallMs, at };
}

/** Where the wall clock was set back it goes on by what is known to have passed. */
export function advanceLasting(last: LastingTime, now: Moment): LastingTime {
  const knownMs = now.boot === last.at.boot ? Math.max(0, now.bootMs - last.at.bootMs) : 0;
  return { ms: Math.max(last.ms + knownMs, now.wallMs), at: now };
}
