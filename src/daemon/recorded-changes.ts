import type { RootChange } from '../core/view.ts';
import type { AttachedSession } from '../socket/authority.ts';

/**
 * A line of the log and of the audit stays some 30 KiB: ten thousand roots would be megabytes, and a line for each of
 * thousands of sessions would put away the whole history with every edit.
 */
const MOST = 100;

export interface RecordedChanges {
  readonly changes: readonly RootChange[];
  /** How many more there were. */
  readonly omitted?: number;
}

/** What is written down of the changes of one list. */
export function recordedChanges(changes: readonly RootChange[]): RecordedChanges {
  if (changes.length <= MOST) return { changes };
  return { changes: changes.slice(0, MOST), omitted: changes.length - MOST };
}

export interface RecordedSessions {
  readonly sessions: readonly string[];
  /** How many more there were. */
  readonly omittedSessions?: number;
}

/** Which sessions a line is about. */
export function recordedSessions(lives: readonly { readonly session: AttachedSession }[]): RecordedSessions {
  const sessions = lives.slice(0, MOST).map(({ session }) => session.id);
  return lives.length <= MOST ? { sessions } : { sessions, omittedSessions: lives.length - MOST };
}
