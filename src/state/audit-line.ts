// The form of the audit file: JSON lines, each with the SHA-256 of the line before, so that a line that was changed, left
// out or put in shows. What it cannot show: that lines are missing at the very end, or that someone who can write the
// file has written all of it anew.

import { createHash } from 'node:crypto';
import { jsonLine } from '../core/json-line.ts';
import type { LogEvent } from '../core/log-event.ts';

/** Where a chain stands: what the next line will carry. */
export interface ChainEnd {
  readonly seq: number;
  /** SHA-256 of the last line without its line break, as 64 hex digits. */
  readonly prev: string;
}

/** Before the first line there is none. */
export const CHAIN_START: ChainEnd = { seq: 0, prev: '0'.repeat(64) };

export interface AuditEntry {
  readonly time: Date;
  readonly event: LogEvent;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The next line of a chain, without a line break. A field cannot take the place of `seq`, `time`, `event` or `prev`. */
export function formatLine({ seq, prev }: ChainEnd, { time, event, fields }: AuditEntry): string {
  const head = { seq, time: time.toISOString(), event };
  return jsonLine({ ...head, ...fields, ...head, prev });
}

/** Where the chain stands after this line. */
export function chainAfter(line: string | Uint8Array, seq: number): ChainEnd {
  return { seq: seq + 1, prev: createHash('sha256').update(line).digest('hex') };
}

/** What ties a line to its neighbours, or null where it is no line of ours. */
export function parseLink(line: string): ChainEnd | null {
  try {
    const { seq, prev } = JSON.parse(line) as { seq?: unknown; prev?: unknown };
    const isOurs = Number.isSafeInteger(seq) && typeof prev === 'string' && /^[0-9a-f]{64}$/.test(prev);
    return isOurs ? { seq: seq as number, prev: prev as string } : null;
  } catch {
    return null;
  }
}
