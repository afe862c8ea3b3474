// A file of ours that must hold what it was given last. What cannot be done now, on a full disk or a read-only one, is
// tried again until it can; it is said once that it cannot, and once that it could at last.

import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Problem, problem, RootsError, startOf } from '../core/errors.ts';
import { LOG_EVENTS, type LogEvent } from '../core/log-event.ts';
import { type Clock, SYSTEM_CLOCK } from '../disk/clock.ts';
import { removeLeftovers, syncDirectory, writeDurably } from '../disk/durable-write.ts';
import type { Log } from '../system/log.ts';
import { MAX_OWN_BYTES, refused } from './own-file.ts';

/** Between two tries. */
const RETRY_MS = 10_000;

export interface LastingFileOptions {
  /** Its directory must be there. */
  readonly path: string;
  readonly log: Log;
  /** What the log says of a failure. */
  readonly lost: LogEvent;
  /** Called with what the file holds now. */
  readonly onWritten?: (text: string) => void;
  /** Called at each failure to write. */
  readonly onFailure?: () => Promise<void>;
  readonly clock?: Clock;
}

/** One process at a time may have it. None of its methods rejects. */
export class LastingFile {
  readonly #options: LastingFileOptions;
  /** null: there is to be no file. */
  #wanted: string | null = null;
  #isFailing = false;
  #cancelRetry: (() => void) | null = null;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: LastingFileOptions) {
    this.#options = options;
    removeLeftovers(options.path);
  }

  /** Resolves when the file holds the text or one that was given later (true), or cannot for now (false). */
  write(text: string): Promise<boolean> {
    return this.#want(text);
  }

  /** Resolves when the file is gone (true), or cannot be removed for now (false). */
  remove(): Promise<boolean> {
    return this.#want(null);
  }

  /** What could not be done; nothing, once it could. */
  problems(): readonly Problem[] {
    const { path } = this.#options;
    return this.#isFailing ? [problem('STATE_UNWRITABLE', startOf(path), { path }, 'warning')] : [];
  }

  /** Tries no more. */
  close(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = null;
  }

  #want(content: string | null): Promise<boolean> {
    this.#wanted = content;
    const done = this.#queue.then(() => this.#apply());
    this.#queue = done;
    return done;
  }

  async #apply(): Promise<boolean> {
    const { path, log, lost, clock = SYSTEM_CLOCK } = this.#options;
    this.close();
    try {
      await this.#put(this.#wanted);
      if (this.#isFailing) log('info', LOG_EVENTS.stateWritten, { path });
      this.#isFailing = false;
      return true;
    } catch (cause) {
      if (!this.#isFailing) log('warn', lost, { error: new RootsError('STATE_UNWRITABLE', { path }, { cause }) });
      this.#isFailing = true;
      this.#cancelRetry = clock.after(RETRY_MS, () => {
        this.#queue = this.#queue.then(() => this.#apply());
      });
      return false;
    }
  }

  async #put(content: string | null): Promise<void> {
    const { path, onWritten, onFailure } = this.#options;
    if (content === null) {
      await rm(path, { force: true });
      await syncDirectory(dirname(path));
      return;
    }
    try {
      mustBeReadable(path, content);
      await writeDurably(path, content);
    } catch (error) {
      await onFailure?.();
      throw error;
    }
    onWritten?.(content);
  }
}

/** The next start would take a file that is too large for a damaged one, and all that it holds would be lost. */
function mustBeReadable(path: string, content: string): void {
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_OWN_BYTES) throw refused(path, `it would have ${bytes} bytes`);
}
