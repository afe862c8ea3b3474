// Looks at places on mounts that may hang, without hanging: one helper process is asked one question after the other, and
// each has a deadline. A helper that is late is killed; one that cannot be killed is abandoned and counted, and its mount
// is not asked about before it ends: it ends as soon as the mount answers again.

import type { Clock } from './clock.ts';
import { HelperProcess } from './helper-process.ts';
import type { Mount } from './mount.ts';
import type { SlowAnswer, SlowQuestion } from './slow-question.ts';

export interface SlowPlacesOptions<T> {
  readonly clock: Clock;
  /** The answer to the subject's question is another one now. */
  readonly onAnswer: (subject: T) => void;
  /** What the helper runs; tests have others. */
  readonly script?: string;
}

export type Asked<A extends SlowAnswer> =
  | { readonly state: 'answered'; readonly answer: A }
  /** Not answered yet. */
  | { readonly state: 'open' }
  /** The mount does not answer. */
  | { readonly state: 'late' };

const DEADLINE_MS = 2_000;
/** How long a helper may take to start, which no mount is to blame for: the machine may be busy. */
const START_MS = 10_000;
/** How long a killed process may take to end before it is given up. */
const END_MS = 1_000;
/** When a mount that was late is asked about again; each time twice as long after the last. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;

interface Entry<T> {
  readonly subject: T;
  readonly mount: string;
  readonly text: string;
  /** Compared with the next one. */
  line: string | null;
  asked: Asked<SlowAnswer>;
}

interface Pause {
  readonly untilMs: number;
  readonly lengthMs: number;
}

export class SlowPlaces<T> {
  readonly #options: SlowPlacesOptions<T>;
  readonly #entries = new Map<T, Entry<T>>();
  /** In the order in which they are asked. A set: ten thousand may be forgotten at once. */
  readonly #queue = new Set<Entry<T>>();
  #current: Entry<T> | null = null;
  #cancelDeadline: () => void = () => {};
  #helper: HelperProcess | null = null;
  /** Has the helper started? */
  #isReady = false;
  /** Killed and not ended yet, with the mount that each hangs on. */
  readonly #ending = new Map<HelperProcess, string>();
  readonly #abandoned = new Set<HelperProcess>();
  /** By the id of the mount. */
  readonly #pauses = new Map<string, Pause>();
  #waiting: (() => void)[] = [];

  constructor(options: SlowPlacesOptions<T>) {
    this.#options = options;
  }

  /** What was answered last; asks anew, for the next time. A subject has one question, which is about one mount. */
  ask<A extends SlowAnswer>(subject: T, { id }: Mount, question: SlowQuestion): Asked<A> {
    const entry = this.#entryOf(subject, id, JSON.stringify(question));
    if (this.#isShut(id)) this.#give(entry, null);
    else {
      this.#queue.add(entry);
      this.#askNext();
    }
    return entry.asked as Asked<A>;
  }

  /** What was answered last, without asking anew. */
  known<A extends SlowAnswer>(subject: T): Asked<A> {
    return (this.#entries.get(subject)?.asked ?? { state: 'open' }) as Asked<A>;
  }

  /** The subject lies elsewhere now, or is no more. */
  forget(subject: T): void {
    const entry = this.#entries.get(subject);
    if (entry === undefined) return;
    this.#entries.delete(subject);
    this.#queue.delete(entry);
  }

  /** All that has a question. */
  subjects(): readonly T[] {
    return [...this.#entries.keys()];
  }

  /** Resolves when nothing is open: all is answered, or late. */
  settled(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  counts(): { readonly slow: number; readonly abandoned: number } {
    return { slow: this.#entries.size, abandoned: this.#abandoned.size };
  }

  close(): void {
    this.#queue.clear();
    this.#cancelDeadline();
    this.#current = null;
    this.#helper?.kill();
    this.#helper = null;
    this.#tellIdle();
  }

  get #isIdle(): boolean {
    return this.#current === null && this.#queue.size === 0;
  }

  /** Another question, or another mount, makes what was answered before void. */
  #entryOf(subject: T, mount: string, text: string): Entry<T> {
    const known = this.#entries.get(subject);
    if (known?.mount === mount && known.text === text) return known;
    this.forget(subject);
    const made: Entry<T> = { subject, mount, text, line: null, asked: { state: 'open' } };
    this.#entries.set(subject, made);
    return made;
  }

  #isShut(mount: string): boolean {
    if ([...this.#ending.values()].includes(mount)) return true;
    return (this.#pauses.get(mount)?.untilMs ?? 0) > this.#options.clock.now();
  }

  #askNext(): void {
    if (this.#current !== null) return;
    const [entry] = this.#queue;
    if (entry === undefined) {
      this.#tellIdle();
      return;
    }
    this.#queue.delete(entry);
    this.#helper ??= this.#startHelper();
    this.#current = entry;
    this.#giveUpIn(this.#isReady ? DEADLINE_MS : START_MS);
    this.#helper.ask(entry.text);
  }

  #giveUpIn(delayMs: number): void {
    this.#cancelDeadline();
    this.#cancelDeadline = this.#options.clock.after(delayMs, () => this.#giveUp());
  }

  #startHelper(): HelperProcess {
    const { script } = this.#options;
    this.#isReady = false;
    const helper: HelperProcess = new HelperProcess({
      onReady: () => {
        if (helper === this.#helper) this.#started();
      },
      onLine: (line) => {
        if (helper === this.#helper) this.#receive(line);
      },
      onEnd: () => this.#end(helper),
      ...(script === undefined ? {} : { script }),
    });
    return helper;
  }

  #started(): void {
    this.#isReady = true;
    if (this.#current !== null) this.#giveUpIn(DEADLINE_MS);
  }

  #receive(line: string): void {
    const current = this.#current;
    if (current === null) return;
    if (!line.startsWith('{')) {
      this.#giveUp();
      return;
    }
    this.#cancelDeadline();
    this.#current = null;
    this.#pauses.delete(current.mount);
    this.#give(current, line);
    this.#askNext();
  }

  /** The helper hangs, or has died: so would the next one over the same mount. */
  #giveUp(): void {
    const current = this.#current;
    if (current === null) return;
    this.#cancelDeadline();
    this.#current = null;
    const { mount } = current;
    const lengthMs = Math.min(LONGEST_PAUSE_MS, 2 * (this.#pauses.get(mount)?.lengthMs ?? FIRST_PAUSE_MS / 2));
    this.#pauses.set(mount, { untilMs: this.#options.clock.now() + lengthMs, lengthMs });
    this.#abandon(mount);
    const late = [...this.#queue].filter((entry) => entry.mount === mount);
    for (const entry of late) this.#queue.delete(entry);
    for (const entry of [current, ...late]) this.#give(entry, null);
    this.#askNext();
  }

  #abandon(mount: string): void {
    const helper = this.#helper;
    this.#helper = null;
    if (helper === null || helper.hasEnded) return;
    this.#ending.set(helper, mount);
    helper.kill();
    this.#options.clock.after(END_MS, () => {
      if (this.#ending.has(helper)) this.#abandoned.add(helper);
    });
  }

  #end(helper: HelperProcess): void {
    this.#ending.delete(helper);
    this.#abandoned.delete(helper);
    if (helper !== this.#helper) return;
    this.#helper = null;
    this.#giveUp();
  }

  /** null: late. */
  #give(entry: Entry<T>, line: string | null): void {
    if (entry.asked.state !== 'open' && entry.line === line) return;
    entry.line = line;
    entry.asked = line === null ? { state: 'late' } : { state: 'answered', answer: JSON.parse(line) as SlowAnswer };
    if (this.#entries.get(entry.subject) === entry) this.#options.onAnswer(entry.subject);
  }

  #tellIdle(): void {
    for (const tell of this.#waiting.splice(0)) tell();
  }
}
