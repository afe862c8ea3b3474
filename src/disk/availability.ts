// From what was seen of a root to what holds. Pure: observations and times go in.

import type { Place } from '../core/place.ts';
import type { Mount } from './mount.ts';

/** One look at a root. `place`: what lies there, also if it is not what is looked for. */
export type Observation =
  | { readonly state: 'there'; readonly place: Place }
  /** Not usable, or not to be known: withdrawn at once. `slow`: not looked at, since the look might hang in this mount. */
  | { readonly state: 'refused'; readonly place: Place | null; readonly why: string; readonly slow?: Mount }
  /** Merely not there: perhaps back in a moment. `isDeleted`: the disk says so, it does not only keep silent. */
  | { readonly state: 'absent'; readonly place: Place | null; readonly why: string; readonly isDeleted?: true };

export interface Standing {
  readonly place: Place | null;
  readonly available: boolean;
  /** Empty if available. */
  readonly why: string;
  /** Missed since then, but still standing; null: not missed. */
  readonly missedSinceMs: number | null;
}

/** How long something merely absent is still taken to be there. */
const GRACE_MS = 300;

/** What holds after one more look. */
export function settle(before: Standing | null, seen: Observation, nowMs: number): Standing {
  if (seen.state === 'there') return { place: seen.place, available: true, why: '', missedSinceMs: null };
  if (seen.state === 'refused') return { place: seen.place, available: false, why: seen.why, missedSinceMs: null };
  const withdrawn = { place: null, available: false, why: seen.why, missedSinceMs: null };
  if (before === null || !before.available) return withdrawn;
  const missedSinceMs = before.missedSinceMs ?? nowMs;
  return nowMs - missedSinceMs >= GRACE_MS ? withdrawn : { ...before, missedSinceMs };
}

/** When to look again because of a missed root, or null. */
export function settlesAtMs({ missedSinceMs }: Standing): number | null {
  return missedSinceMs === null ? null : missedSinceMs + GRACE_MS;
}

/** Does the second say something else to others than the first? */
export function standsDifferently(before: Standing | null, after: Standing): boolean {
  return (
    before?.available !== after.available ||
    before.why !== after.why ||
    before.place?.path !== after.place?.path ||
    before.place?.identity !== after.place?.identity
  );
}
