import type { BigIntStats } from 'node:fs';
import type { Clock } from './clock.ts';

/** FAT counts in two seconds. */
const COARSEST_TIMES_MS = 3_000;

/**
 * Does the ctime of a directory tell it from all that it will be after a change? A change right after the look could leave
 * the same time: what has just changed is not calm. A clock that was set forward makes it look older, but then stamps the
 * next change by as much later: it is another time all the same.
 */
export function isCalm({ ctimeNs }: BigIntStats, clock: Clock): boolean {
  return clock.epochMs() - Number(ctimeNs / 1_000_000n) > COARSEST_TIMES_MS;
}
