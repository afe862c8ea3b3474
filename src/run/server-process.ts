import type { Timer } from '../client/timer.ts';
import { Latch } from '../core/latch.ts';
import type { Child, Ended } from './child.ts';
import { ChildEnding, type Patience } from './end-child.ts';
import { type Judge, LineFlow } from './line-flow.ts';
import type { LineWriter } from './line-writer.ts';

/** How long a process that has ended may still be heard through one that it left behind. */
const LAST_WORDS_MS = 500;

export interface ServerProcessOptions {
  readonly host: LineWriter;
  readonly server: LineWriter;
  readonly timer: Timer;
  /** Resolves when nobody waits for a slow host any more. */
  readonly hurry: Promise<void>;
  /** Judges what it writes; `onEnd` is to be called when it writes no more. */
  readonly judge: (onEnd: () => void) => Judge;
}

/** The server of the moment: its process, tied to the writers of both directions. */
export class ServerProcess {
  readonly #child: Child;
  readonly #options: ServerProcessOptions;
  readonly #flow: LineFlow;
  /** It writes no more. */
  readonly outputEnded = new Latch();
  #ending: ChildEnding | null = null;
  #hasEnded = false;

  constructor(child: Child, options: ServerProcessOptions) {
    const { host, server, judge } = options;
    this.#child = child;
    this.#options = options;
    server.redirect(child.sink);
    this.#flow = new LineFlow(child.source, { to: host, answers: server, judge: judge(() => this.outputEnded.set()) });
    void child.ended.then(() => {
      this.#hasEnded = true;
    });
    this.#flow.start();
  }

  get ended(): Promise<Ended> {
    return this.#child.ended;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Did somebody end it, rather than it itself? */
  get isBeingEnded(): boolean {
    return this.#ending !== null;
  }

  /** What it has written may be judged again. */
  resume(): void {
    this.#flow.resume();
  }

  /** Begins its orderly end, once. */
  end(patience: Patience): ChildEnding {
    this.#ending ??= new ChildEnding(this.#child, patience, this.#options.timer);
    return this.#ending;
  }

  /** Passes on a signal that ends the session. */
  endBy(signal: NodeJS.Signals, patience: Patience): void {
    if (this.#ending !== null) this.#ending.signal(signal);
    else this.#ending = new ChildEnding(this.#child, patience, this.#options.timer, signal);
  }

  /** Resolves when it has ended and what it wrote has been passed on, however slowly the host reads, or `hurry` says so. */
  async finished(): Promise<Ended> {
    const ended = await this.#child.ended;
    const isOver = Promise.race([this.outputEnded.reached, this.#options.hurry]).then(() => true);
    for (let received = -1; received !== this.#flow.received || this.#flow.isPaused; ) {
      received = this.#flow.received;
      if (await Promise.race([isOver, this.#delay()])) break;
    }
    this.#flow.close();
    this.#options.host.breakLine();
    return ended;
  }

  /** Resolves when nothing is left of what end() ends. */
  async gone(): Promise<void> {
    await this.#ending?.finish();
  }

  #delay(): Promise<false> {
    return new Promise((resolve) => {
      this.#options.timer(LAST_WORDS_MS, () => resolve(false));
    });
  }
}
