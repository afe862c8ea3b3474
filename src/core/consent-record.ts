// What is kept of consents: what was given, what was refused, and who said so when.

import type { Access } from './access.ts';
import type { ConsentKey } from './consent.ts';
import type { Grant } from './grant.ts';
import type { LastingTime } from './moment.ts';
import type { Asker } from './question.ts';

/** How often somebody has said no. From the second time on nobody is asked any more, until that is reset. */
export interface Refusal {
  readonly key: ConsentKey;
  readonly asker: Asker;
  readonly root: string;
  readonly access: Access;
  readonly count: number;
  /** RFC 3339; of the last one. */
  readonly since: string;
}

export const REMEMBERED_COUNT = 2;

/** `ended`: its time was over, or nobody used it. */
export type ConsentEvent = 'approved' | 'denied' | 'revoked' | 'reset' | 'ended';

/** One line of the history. */
export interface ConsentEntry {
  /** RFC 3339 */
  readonly time: string;
  readonly event: ConsentEvent;
  /** Of the grant, or of the question that was refused. */
  readonly id: string;
  readonly asker: Asker;
  readonly root: string;
  readonly path: string;
  readonly access: Access;
  readonly rule: string;
  readonly scope: string | null;
  /** How it was answered: `command`, `agent` …; null: by nobody. */
  readonly channel: string | null;
  readonly uid: number | null;
  readonly note: string | null;
}

/** All that outlives a daemon. */
export interface KeptConsents {
  readonly lasting: LastingTime;
  readonly grants: readonly Grant[];
  readonly refusals: readonly Refusal[];
  /** The oldest first. */
  readonly history: readonly ConsentEntry[];
}

export const MAX_HISTORY = 1_000;
export const MAX_REFUSALS = 10_000;
