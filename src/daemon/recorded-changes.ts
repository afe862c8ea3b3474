import type { RootChange } from '../core/view.ts';

/** A line of the log and of the audit stays some 30 KiB: ten thousand roots would be megabytes for each session. */
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
