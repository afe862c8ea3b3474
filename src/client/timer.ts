/** Calls back once after so many milliseconds, unless cancelled by what it returns. Tests pass their own. */
export type Timer = (ms: number, callback: () => void) => () => void;

/** The real clock. What waits does not keep the process alive: the sockets do. */
export const unrefTimer: Timer = (ms, callback) => {
  const timeout = setTimeout(callback, ms);
  timeout.unref();
  return () => clearTimeout(timeout);
};

/** The real clock, for waits that the process must live through. */
export const realTimer: Timer = (ms, callback) => {
  const timeout = setTimeout(callback, ms);
  return () => clearTimeout(timeout);
};
