import type { LogEvent } from '../core/log-event.ts';

export type Level = 'error' | 'warn' | 'info' | 'debug';

/** Writes an event to the log and, where it is one of those that must be kept, to the audit file. */
export type Record = (level: Level, event: LogEvent, fields: { readonly [name: string]: unknown }) => void;
