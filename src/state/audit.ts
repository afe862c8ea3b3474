// The audit: one line for each change of a session's list, attach, refusal and activation. Written line by line at once,
// in order, without fsync: a power cut may take the last lines, a crash of ours takes none.

import { closeSync } from 'node:fs';
import { LOG_EVENTS, type LogEvent } from '../core/log-event.ts';
import type { Owner } from '../disk/private-directory.ts';
import type { Log } from '../system/log.ts';
import { appendAll, endOfFile, isStillAt, openAuditFile, rotateFiles } from './audit-file.ts';
import { CHAIN_START, type ChainEnd, chainAfter, formatLine } from './audit-line.ts';

export interface AuditOptions {
  readonly path: string;
  /** A file that would become larger is put away first. */
  readonly sizeBytes: number;
  /** How many full files are kept. */
  readonly keep: number;
  readonly owner: Owner;
  readonly log: Log;
  readonly now: () => Date;
}

export interface Audit extends Disposable {
  /**
   * Appends one line. Never throws: a line that cannot be written is counted, the first of several in a row is logged,
   * and once lines can be written again one of them says how many are missing.
   */
  append(event: LogEvent, fields: Readonly<Record<string, unknown>>): void;
  close(): void;
}

/** Opens the audit; the chain goes on where the last line has left it. */
export function openAudit(options: AuditOptions): Audit {
  return new AuditWriter(options);
}

interface Current {
  readonly fd: number;
  sizeBytes: number;
}

class AuditWriter implements Audit {
  readonly #options: AuditOptions;
  #current: Current | null = null;
  /** null: not read from the files yet. */
  #end: ChainEnd | null = null;
  #lost = 0;
  #closed = false;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#attempt(() => void this.#open());
  }

  append(event: LogEvent, fields: Readonly<Record<string, unknown>>): void {
    if (this.#closed) return;
    const written = this.#attempt(() => {
      if (this.#lost > 0) this.#resume();
      this.#write(event, fields);
    });
    if (written) return;
    this.#lost += 1;
  }

  close(): void {
    this.#closed = true;
    this.#letGo();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Lines can be written again: the first one says how many are missing. */
  #resume(): void {
    const lost = { lines: this.#lost };
    this.#write(LOG_EVENTS.auditLost, lost);
    this.#lost = 0;
    this.#options.log('info', LOG_EVENTS.auditResumed, { path: this.#options.path, ...lost });
  }

  /** The chain moves on only when the whole line is in the file: a failure leaves it where it was. */
  #write(event: LogEvent, fields: Readonly<Record<string, unknown>>): void {
    let current = this.#open();
    const end = this.#end ?? CHAIN_START;
    const line = formatLine(end, { time: this.#options.now(), event, fields });
    const bytes = Buffer.from(`${line}\n`);
    const { path, sizeBytes, keep } = this.#options;
    if (current.sizeBytes > 0 && current.sizeBytes + bytes.length > sizeBytes) {
      this.#letGo();
      rotateFiles(path, keep);
      current = this.#open();
    }
    appendAll(current.fd, bytes);
    current.sizeBytes += bytes.length;
    this.#end = chainAfter(line, end.seq);
  }

  /** The file to write to; opened anew after a failure, and where somebody has moved or removed it. */
  #open(): Current {
    const { path, owner, log } = this.#options;
    if (this.#current !== null && isStillAt(path, this.#current.fd)) return this.#current;
    this.#letGo();
    const { fd, sizeBytes, end, tornBytes } = openAuditFile(path, owner);
    if (tornBytes > 0) log('warn', LOG_EVENTS.auditRepaired, { path, tornBytes, setAside: `${path}.torn` });
    this.#current = { fd, sizeBytes };
    this.#end ??= end ?? this.#endOfFullFile();
    return this.#current;
  }

  /** Where a start finds no lines in the file, since it has just been put away. */
  #endOfFullFile(): ChainEnd {
    const { path, keep, owner } = this.#options;
    return (keep === 0 ? null : endOfFile(`${path}.1`, owner)) ?? CHAIN_START;
  }

  #attempt(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      const { path, log } = this.#options;
      if (this.#lost === 0) log('error', LOG_EVENTS.auditLost, { path, error });
      this.#letGo();
      return false;
    }
  }

  #letGo(): void {
    if (this.#current !== null) closeSync(this.#current.fd);
    this.#current = null;
  }
}
