// What ends or wakes a daemon from outside: signals, idleness, and bugs of our own.

import { isatty } from 'node:tty';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Daemon } from '../daemon/daemon.ts';
import type { Part } from '../daemon/open-parts.ts';
import type { Log } from '../system/log.ts';
import { EXIT } from './io.ts';

const STANDARD_OUTPUT = 1;
/** The exit status of a program that SIGHUP has ended, as shells tell it. */
export const HUNG_UP = 129;
const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const BUG_EVENTS = ['uncaughtException', 'unhandledRejection'] as const;

export interface HangupOptions {
  readonly log: Log;
  /** The terminal that the daemon was started at is gone. */
  readonly onTerminalGone: () => void;
}

/**
 * SIGHUP: read the policies again. Before the daemon is open there is nothing to read again; it ends nothing. But where
 * it is the farewell of the terminal, nobody can end the daemon there any more, so it ends itself.
 */
export class ReloadOnHangup implements Part {
  #daemon: Daemon | null = null;
  readonly #options: HangupOptions;
  readonly #isAtTerminal = isatty(STANDARD_OUTPUT);

  constructor(options: HangupOptions) {
    this.#options = options;
    process.on('SIGHUP', this.#reload);
  }

  attach(daemon: Daemon): void {
    this.#daemon = daemon;
  }

  close(): void {
    process.off('SIGHUP', this.#reload);
  }

  readonly #reload = (): void => {
    const { log, onTerminalGone } = this.#options;
    if (this.#isAtTerminal && !isatty(STANDARD_OUTPUT)) {
      onTerminalGone();
      return;
    }
    log('info', LOG_EVENTS.reloadRequested, { by: 'SIGHUP' });
    void this.#daemon?.reload({ wait: false, acceptEmpty: false });
  };
}

/** How often a terminal is looked for. */
const TERMINAL_MS = 2_000;

/**
 * Notices that a terminal is gone whose hangup did not reach us: launchers in between (npm, a pipe) may have taken it. For
 * the example alone: what nobody sees any more must not stay, while a daemon of somebody's own may be meant to.
 */
export class TerminalWatch implements Part {
  readonly #timer: NodeJS.Timeout;

  constructor(onTerminalGone: () => void) {
    const terminals = [0, 1, 2].filter((fd) => isatty(fd));
    this.#timer = setInterval(() => {
      if (terminals.some((fd) => !isatty(fd))) onTerminalGone();
    }, TERMINAL_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/**
 * SIGTERM or SIGINT, an end of its own, or a bug. A second signal ends the process at once, as if it had no handler; a
 * bug is logged with its stack and ends the daemon in order: what it decides from then on could not be trusted.
 */
export class Stop implements Part {
  /** The exit status. */
  readonly wanted: Promise<number>;
  readonly #log: Log;
  #resolve: (status: number) => void = () => {};

  constructor(log: Log) {
    this.#log = log;
    this.wanted = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    for (const signal of STOP_SIGNALS) process.on(signal, this.#onSignal);
    for (const event of BUG_EVENTS) process.on(event, this.#onBug);
  }

  now(status: number = EXIT.yes): void {
    this.#resolve(status);
  }

  close(): void {
    this.#letSignalsEnd();
    for (const event of BUG_EVENTS) process.off(event, this.#onBug);
  }

  readonly #onSignal = (): void => {
    this.#letSignalsEnd();
    this.now();
  };

  readonly #onBug = (error: unknown): void => {
    this.#log('error', LOG_EVENTS.bug, { error });
    this.#resolve(EXIT.bug);
  };

  #letSignalsEnd(): void {
    for (const signal of STOP_SIGNALS) process.off(signal, this.#onSignal);
  }
}

/** Ends a daemon that `rootsd run` has started when nobody has used it for a while. */
export class IdleTimer implements Part {
  readonly #limitMs: number | null;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number | null, onIdle: () => void) {
    this.#limitMs = limitMs;
    this.#onIdle = onIdle;
    this.sessions(0);
  }

  sessions(count: number): void {
    clearTimeout(this.#timer);
    if (count === 0 && this.#limitMs !== null) this.#timer = setTimeout(this.#onIdle, this.#limitMs);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
