// Looks at places on mounts that may hang, without hanging: a helper process is asked one question after the other, and each
// has a deadline. A helper that is late is killed; one that cannot be killed is abandoned and counted, and its mount is not
// asked about before it ends: it ends as soon as the mount answers again.
//
// One helper does for all mounts that answer. While one makes it wait, the questions about others go to further helpers: so
// that a mount is held up by itself alone, it has one question at a time.

import type { Clock } from './clock.ts';
import type { Mount } from './mount.ts';
import { MountQueues } from './mount-queues.ts';
import { SlowHelper } from './slow-helper.ts';
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

/** So many mounts may hang at once before others wait for them, and then until the deadline. Each helper takes some 40 MiB. */
const MAX_HELPERS = 4;
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
  readonly #queues = new MountQueues<Entry<T>>();
  /** What each helper is asked. */
  readonly #asking = new Map<SlowHelper, Entry<T>>();
  readonly #idle = new Set<SlowHelper>();
  /** Killed and not ended yet, with the mount that each hangs on. */
  readonly #ending = new Map<SlowHelper, string>();
  readonly #abandoned = new Set<SlowHelper>();
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
      this.#queues.add(entry);
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
    this.#queues.delete(entry);
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
    this.#queues.clear();
    for (const helper of [...this.#asking.keys(), ...this.#idle]) helper.kill();
    this.#asking.clear();
    this.#idle.clear();
    this.#tellIdle();
  }

  get #isIdle(): boolean {
    return this.#asking.size === 0 && this.#queues.isEmpty;
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
    const busy = new Set([...this.#asking.values()].map(({ mount }) => mount));
    while (this.#queues.hasBeside(busy)) {
      const helper = this.#freeHelper();
      const entry = helper === null ? null : this.#queues.takeBeside(busy);
      if (helper === null || entry === null) return;
      this.#idle.delete(helper);
      this.#asking.set(helper, entry);
      busy.add(entry.mount);
      helper.ask(entry.text, (line) => this.#receive(helper, line));
    }
    if (this.#isIdle) this.#tellIdle();
  }

  /** null: there will be one in a moment. */
  #freeHelper(): SlowHelper | null {
    const [idle] = this.#idle;
    if (idle !== undefined) return idle;
    const helpers = [...this.#asking.keys()];
    return helpers.length < MAX_HELPERS && helpers.every(({ isLong }) => isLong) ? this.#startHelper() : null;
  }

  #startHelper(): SlowHelper {
    const { clock, script } = this.#options;
    const helper: SlowHelper = new SlowHelper({
      clock,
      script,
      onMoment: () => this.#askNext(),
      onEnd: () => {
        this.#ending.delete(helper);
        this.#abandoned.delete(helper);
        this.#idle.delete(helper);
      },
    });
    return helper;
  }

  #receive(helper: SlowHelper, line: string | null): void {
    const entry = this.#asking.get(helper);
    this.#asking.delete(helper);
    if (entry === undefined) return;
    if (line === null) this.#giveUp(helper, entry);
    else {
      this.#pauses.delete(entry.mount);
      this.#spare(helper);
      this.#give(entry, line);
    }
    this.#askNext();
  }

  /** One helper is kept for the next question; those that were started beside it end. */
  #spare(helper: SlowHelper): void {
    if (this.#idle.size === 0) this.#idle.add(helper);
    else helper.kill();
  }

  /** The helper hangs, or has died: so would the next one over the same mount. */
  #giveUp(helper: SlowHelper, entry: Entry<T>): void {
    const { mount } = entry;
    const lengthMs = Math.min(LONGEST_PAUSE_MS, 2 * (this.#pauses.get(mount)?.lengthMs ?? FIRST_PAUSE_MS / 2));
    this.#pauses.set(mount, { untilMs: this.#options.clock.now() + lengthMs, lengthMs });
    this.#abandon(helper, mount);
    for (const late of [entry, ...this.#queues.takeAll(mount)]) this.#give(late, null);
  }

  #abandon(helper: SlowHelper, mount: string): void {
    if (helper.hasEnded) return;
    this.#ending.set(helper, mount);
    helper.kill();
    this.#options.clock.after(END_MS, () => {
      if (this.#ending.has(helper)) this.#abandoned.add(helper);
    });
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
