import type { LogEvent } from '../core/log-event.ts';
import { type Clock, SYSTEM_CLOCK } from '../disk/clock.ts';
import type { Log } from '../system/log.ts';

export interface RefusedLogOptions {
  readonly log: Log;
  readonly event: LogEvent;
  readonly clock?: Clock;
}

/** Of one user in a window. */
const MAX_LINES = 5;
const WINDOW_MS = 60_000;
/** Users that are told apart in a window: one user may have thousands of numbers. */
const MAX_USERS = 32;
const OTHERS = 'others';
const UNKNOWN = 'unknown';

/** What is said of other users who are refused: who comes again and again must not push out what else was said. */
export class RefusedLog {
  readonly #options: RefusedLogOptions;
  readonly #counts = new Map<number | typeof UNKNOWN | typeof OTHERS, number>();
  #cancel: (() => void) | null = null;

  constructor(options: RefusedLogOptions) {
    this.#options = options;
  }

  /** The log for a connection of this user: of the first few in a minute each has a line, of the rest one has the count. */
  of(uid: number | undefined): Log {
    return (level, event, fields) => {
      if (this.#count(uid) <= MAX_LINES) this.#options.log(level, event, fields);
    };
  }

  /** Says what was left out, and forgets it. */
  close(): void {
    this.#cancel?.();
    this.#cancel = null;
    const { log, event } = this.#options;
    for (const [uid, count] of this.#counts)
      if (count > MAX_LINES) log('warn', event, { uid, left: count - MAX_LINES });
    this.#counts.clear();
  }

  #count(uid: number | undefined): number {
    const { clock = SYSTEM_CLOCK } = this.#options;
    this.#cancel ??= clock.after(WINDOW_MS, () => this.close());
    const known = uid ?? UNKNOWN;
    const user = this.#counts.has(known) || this.#counts.size < MAX_USERS ? known : OTHERS;
    const count = (this.#counts.get(user) ?? 0) + 1;
    this.#counts.set(user, count);
    return count;
  }
}
