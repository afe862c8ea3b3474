import type { Clock } from './clock.ts';
import { HelperProcess } from './helper-process.ts';

export interface SlowHelperOptions {
  readonly clock: Clock;
  /** What it runs; tests have others. */
  readonly script: string | undefined;
  /** The question has not been answered for a moment: others should not wait for that. */
  readonly onMoment: () => void;
  /** The process has ended. */
  readonly onEnd: () => void;
}

const DEADLINE_MS = 2_000;
/** How long it may take to start, which no mount is to blame for: the machine may be busy. */
const START_MS = 10_000;
const MOMENT_MS = 100;

/** What comes of a question; null: nothing in time, or none that is one. It must be killed then. */
type Give = (line: string | null) => void;

/** A helper process, one question that it is asked, and the deadline of that. */
export class SlowHelper {
  readonly #options: SlowHelperOptions;
  readonly #process: HelperProcess;
  #isReady = false;
  #give: Give | null = null;
  #isLong = false;
  #cancelDeadline: () => void = () => {};
  #cancelMoment: () => void = () => {};

  constructor(options: SlowHelperOptions) {
    this.#options = options;
    const { script, onEnd } = options;
    this.#process = new HelperProcess({
      onReady: () => this.#started(),
      onLine: (line) => this.#settle(line.startsWith('{') ? line : null),
      onEnd: () => {
        this.#settle(null);
        onEnd();
      },
      ...(script === undefined ? {} : { script }),
    });
  }

  get hasEnded(): boolean {
    return this.#process.hasEnded;
  }

  /** Has its question been open for more than a moment? */
  get isLong(): boolean {
    return this.#isLong;
  }

  /** Asks; nothing may be open. */
  ask(text: string, give: Give): void {
    this.#give = give;
    this.#wait();
    this.#process.ask(text);
  }

  /** What is open is not answered any more. */
  kill(): void {
    this.#stopWaiting();
    this.#give = null;
    this.#process.kill();
  }

  #started(): void {
    this.#isReady = true;
    if (this.#give !== null) this.#wait();
  }

  #wait(): void {
    this.#stopWaiting();
    const { clock, onMoment } = this.#options;
    this.#cancelDeadline = clock.after(this.#isReady ? DEADLINE_MS : START_MS, () => this.#settle(null));
    if (!this.#isReady) return;
    this.#cancelMoment = clock.after(MOMENT_MS, () => {
      this.#isLong = true;
      onMoment();
    });
  }

  #settle(line: string | null): void {
    const give = this.#give;
    if (give === null) return;
    this.#stopWaiting();
    this.#give = null;
    give(line);
  }

  #stopWaiting(): void {
    this.#isLong = false;
    this.#cancelDeadline();
    this.#cancelMoment();
  }
}
