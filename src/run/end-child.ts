// The orderly end of the child and all below it: its input ends, then TERM, then KILL, each process singly.

import type { Timer } from '../client/timer.ts';
import type { Child } from './child.ts';
import { descendantsOf, isAlive, type ProcessIdentity, signalProcess } from './processes.ts';

/** From the end of the child's input. */
export interface Patience {
  readonly termMs: number;
  readonly killMs: number;
}

/** For a host that is gone or ends the session. */
export const PATIENT: Patience = { termMs: 2_000, killMs: 5_000 };
/** For a restart: a boundary waits to be narrowed. */
export const QUICK: Patience = { termMs: 200, killMs: 2_000 };
/** For a child that must not run at all. */
export const AT_ONCE: Patience = { termMs: 0, killMs: 0 };

const POLL_MS = 50;
/** A child that handles a signal has it before the end of its input, which alone could end it. */
const SIGNAL_FIRST_MS = 50;

export class ChildEnding {
  readonly #child: Child;
  readonly #timer: Timer;
  #known: readonly ProcessIdentity[];
  #hasEnded = false;
  readonly #cancels: (() => void)[] = [];

  /** Begins: ends the child's input, a moment after `first` where it is a signal that ends the session. */
  constructor(child: Child, { termMs, killMs }: Patience, timer: Timer, first?: NodeJS.Signals) {
    this.#child = child;
    this.#timer = timer;
    this.#known = child.identity === null ? [] : [child.identity];
    this.#look();
    void child.ended.then(() => {
      this.#hasEnded = true;
    });
    const endInput = (): void => void child.sink.end();
    if (first === undefined) endInput();
    else {
      this.signal(first);
      this.#cancels.push(timer(SIGNAL_FIRST_MS, endInput));
    }
    this.#cancels.push(
      timer(termMs, () => this.signal('SIGTERM')),
      timer(killMs, () => this.signal('SIGKILL')),
    );
  }

  /** Signals the child and all that are known to descend from it. */
  signal(signal: NodeJS.Signals): void {
    this.#look();
    if (this.#child.identity === null && !this.#hasEnded) this.#child.kill(signal);
    for (const process of this.#known) signalProcess(process, signal);
  }

  /** Resolves when none of them is left. */
  async finish(): Promise<void> {
    await this.#child.ended;
    while (this.#known.some(isAlive)) {
      await new Promise<void>((resolve) => {
        this.#timer(POLL_MS, resolve);
      });
    }
    for (const cancel of this.#cancels) cancel();
  }

  /** Who descends from it now; who did before is remembered, since a parent may be gone. */
  #look(): void {
    const found = descendantsOf(this.#known);
    const pids = new Set(found.map(({ pid }) => pid));
    this.#known = [...found, ...this.#known.filter((process) => !pids.has(process.pid) && isAlive(process))];
  }
}
