// A daemon that went away in mid-session and does not come back: somebody has to start one, but not every `run` at once,
// and not where it is only being restarted, which takes a moment.

/** Of attempts to reach it: these take about two seconds. */
const PATIENCE = 6;
/** Of attempts, a second each: so far apart the runs of one machine begin to try. */
const SPREAD = 6;
/** A start that does not help is tried again after twice as many attempts, at most so many. */
const LONGEST_PAUSE = 60;

export interface ReviverOptions {
  readonly start: () => void;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** Starts a daemon at some of the failed attempts to reach one; to be told of each with its number, counted from 1. */
export function openReviver({ start, random = Math.random }: ReviverOptions): (failedAttempts: number) => void {
  let next = 0;
  let pause = 0;
  return (failedAttempts) => {
    if (failedAttempts === 1) {
      pause = PATIENCE;
      next = PATIENCE + Math.floor(random() * SPREAD);
    }
    if (failedAttempts < next) return;
    pause = Math.min(pause * 2, LONGEST_PAUSE);
    next = failedAttempts + pause;
    start();
  };
}
