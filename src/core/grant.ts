import type { Access } from './access.ts';
import { type ConsentKey, endsWithSession, IDLE_MS, parseScope } from './consent.ts';
import { type LastingTime, type Moment, remainingMs } from './moment.ts';
import type { Asker } from './question.ts';

/** A consent that was given. Whether it holds now, the clocks and the rules say. */
export interface Grant {
  readonly id: string;
  readonly key: ConsentKey;
  readonly asker: Asker;
  /** What the root was called when it was asked for; for people. */
  readonly root: string;
  readonly access: Access;
  /** What had been asked for. */
  readonly asked: Access;
  readonly scope: string;
  /** The one session that it is for; null: for all that have the key. */
  readonly session: string | null;
  readonly given: Moment;
  /** By lasting time: when it was given or last used. */
  readonly usedMs: number;
}

export interface Now {
  readonly moment: Moment;
  readonly lasting: LastingTime;
}

/** Milliseconds until it ends if it is not used; 0 where it has ended; null where only its session ends it. */
export function leftMs({ scope, given, usedMs }: Pick<Grant, 'scope' | 'given' | 'usedMs'>, now: Now): number | null {
  if (endsWithSession(scope)) return null;
  const parsed = parseScope(scope);
  if (parsed?.kind === 'time') return remainingMs(given, parsed.ms, now.moment);
  return parsed?.kind === 'always' ? Math.max(0, IDLE_MS - (now.lasting.ms - usedMs)) : 0;
}
