import { LOG_EVENTS, type LogEvent } from '../core/log-event.ts';
import type { Log } from '../system/log.ts';

/** What must outlive the log: who came, who was refused, which calls were, what each session's list became, which policy was in force, what people were asked and said. */
const AUDITED: ReadonlySet<LogEvent> = new Set([
  LOG_EVENTS.started,
  LOG_EVENTS.stopped,
  LOG_EVENTS.activated,
  LOG_EVENTS.rejected,
  LOG_EVENTS.lockdown,
  LOG_EVENTS.attached,
  LOG_EVENTS.refused,
  LOG_EVENTS.decided,
  LOG_EVENTS.callRefused,
  LOG_EVENTS.consentAsked,
  LOG_EVENTS.consentWithdrawn,
  LOG_EVENTS.consentAnswered,
  LOG_EVENTS.consentEnded,
]);

export interface AuditSink {
  append(event: LogEvent, fields: Readonly<Record<string, unknown>>): void;
}

/** A log that also writes to the audit file what belongs there, whatever the log's level. */
export function auditedLog(log: Log, audit: AuditSink): Log {
  return (level, event, fields = {}) => {
    if (AUDITED.has(event)) audit.append(event, fields);
    log(level, event, fields);
  };
}
