// The log: JSON lines on standard error; standard output belongs to protocol and command output. The only user of winston.
//
// `error`: someone must act. `warn`: we go on, worse than before. `info`: start, stop, reload, decisions. `debug`: the rest.
// Log where a thing is handled, once; never log and rethrow.

import { finished } from 'node:stream/promises';
import winston from 'winston';
import { jsonLine } from '../core/json-line.ts';
import { LOG_LEVELS, type LogEvent, type LogLevel } from '../core/log-event.ts';

/** Writes one line. Never throws, whatever the fields hold and whatever has become of the stream. */
export type Log = (level: LogLevel, event: LogEvent, fields?: Readonly<Record<string, unknown>>) => void;

export interface LogOptions {
  readonly level: LogLevel;
  /** Standard error by default. Stays open when the log is closed. */
  readonly stream?: NodeJS.WritableStream;
  readonly now?: () => Date;
}

export interface OpenLog extends AsyncDisposable {
  readonly log: Log;
  setLevel(level: LogLevel): void;
  /** Resolves when all lines are with the stream; lines after it are dropped. */
  close(): Promise<void>;
}

/** Opens the log. */
export function openLog({ level, stream = process.stderr, now = () => new Date() }: LogOptions): OpenLog {
  const logger = winston.createLogger({
    level,
    levels: Object.fromEntries(LOG_LEVELS.map((name, rank) => [name, rank])),
    format: winston.format.printf((info) => String(info.line)),
    transports: [new winston.transports.Stream({ stream, eol: '\n' })],
  });
  // A reader of our standard error that goes away (EPIPE) must not end the daemon. The handler stays after close():
  // the error of a last line may come later.
  stream.on('error', ignore);
  let closing: Promise<void> | undefined;

  const log: Log = (lineLevel, event, fields = {}) => {
    if (closing !== undefined || !logger.isLevelEnabled(lineLevel)) return;
    logger.log({ level: lineLevel, message: event, line: logLine(now(), lineLevel, event, fields) });
  };
  const close = () => {
    if (closing === undefined) {
      logger.end();
      closing = finished(logger, { readable: false }).then(ignore, ignore);
    }
    return closing;
  };
  const setLevel = (next: LogLevel) => {
    logger.level = next;
  };
  return { log, setLevel, close, [Symbol.asyncDispose]: close };
}

function logLine(time: Date, level: LogLevel, event: LogEvent, fields: Readonly<Record<string, unknown>>): string {
  const head = { time: time.toISOString(), level, message: event };
  // Twice: the first puts these keys in front, the second keeps a field from taking their place.
  return jsonLine({ ...head, ...fields, ...head }, { withStack: level === 'error' });
}

function ignore(): void {}
