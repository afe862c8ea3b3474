// The service manager's watchdog (sd_watchdog_enabled(3)): it restarts a daemon that has not said for a while that it
// lives. Said from the main loop, so that one that is blocked says nothing.

export interface WatchdogOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** Says that we live. */
  readonly alive: () => void;
}

/** Says that we live, now and twice in each period that the manager waits; not at all where it does not ask. */
export function openWatchdog({ env, pid, alive }: WatchdogOptions): { close(): void } {
  const periodMs = watchdogPeriodMs(env, pid);
  if (periodMs === null) return { close() {} };
  alive();
  const timer = setInterval(alive, periodMs / 2);
  return { close: () => clearInterval(timer) };
}

/** How long the manager waits; null where it does not, or asks another process (a parent that left us its variables). */
export function watchdogPeriodMs(env: WatchdogOptions['env'], pid: number): number | null {
  const { WATCHDOG_USEC, WATCHDOG_PID } = env;
  if (WATCHDOG_PID !== undefined && Number(WATCHDOG_PID) !== pid) return null;
  const periodMs = Number(WATCHDOG_USEC) / 1_000;
  return periodMs >= 1 ? periodMs : null;
}
