// Looks at places, one look at a time at each: with the kernel's watches hung before, and again when a watch hints at it.

import { Agenda } from './agenda.ts';
import type { Clock } from './clock.ts';
import { DirectoryWatches, type DirectoryWatchesOptions } from './directory-watches.ts';
import type { Looking } from './looking.ts';
import { Rests } from './rests.ts';

export interface LooksOptions extends Omit<DirectoryWatchesOptions<Looking>, 'onHint'> {
  readonly clock: Clock;
  /** Still watched? */
  readonly has: (looking: Looking) => boolean;
  /** Something is due: takes these steps soon, and tells what has changed. */
  readonly run: (steps: Iterator<void>) => void;
  /** The findings of a place have changed. */
  readonly onChange: () => void;
}

/** Hints come in bursts. */
const HINT_MS = 10;
/** Most looks take two steps, and a step some 20 us. */
const ALL_REST = { fewSteps: 16, restMsPerStep: 2 };
/** What comes has often gone again, which is more to look at. */
const ENTRIES_REST = { fewSteps: 0, restMsPerStep: 5 };

export class Looks {
  readonly #options: LooksOptions;
  readonly #agenda: Agenda<Looking>;
  /** Of whom single entries are looked at. */
  readonly #entryAgenda: Agenda<Looking>;
  readonly #watches: DirectoryWatches<Looking>;
  /** In the middle of a look: one or two. */
  readonly #busy: Looking[] = [];
  readonly #rests = new Rests<Looking>(ALL_REST);
  readonly #entryRests = new Rests<Looking>(ENTRIES_REST);
  #isClosed = false;

  constructor(options: LooksOptions) {
    const { clock, run } = options;
    this.#options = options;
    this.#agenda = new Agenda(clock, (due) => run(this.lookAtAll(due)));
    this.#entryAgenda = new Agenda(clock, (due) => run(this.#lookAtEntries(due)));
    this.#watches = new DirectoryWatches({
      ...options,
      onHint: (looking, directory, entry) => this.#hear(looking, directory, entry),
    });
  }

  counts(): ReturnType<DirectoryWatches<Looking>['counts']> {
    return this.#watches.counts();
  }

  close(): void {
    this.#isClosed = true;
    this.#agenda.close();
    this.#entryAgenda.close();
    this.#watches.close();
  }

  isBusy(looking: Looking): boolean {
    return this.#busy.includes(looking);
  }

  /** Looks at it when nothing else is to be done. */
  lookSoon(looking: Looking): void {
    this.#agenda.add(looking, this.#options.clock.now());
  }

  *lookAtAll(everything: Iterable<Looking>): Generator<void> {
    for (const looking of everything) {
      yield* this.lookAt(looking);
      yield;
    }
  }

  *lookAt(looking: Looking): Generator<void> {
    if (this.isBusy(looking)) {
      this.#agenda.add(looking, this.#options.clock.now() + HINT_MS);
      return;
    }
    this.#busy.push(looking);
    try {
      // What changed before a watch was hung gave no hint: it is hung first.
      this.#aim(looking);
      if (yield* this.#lookOnce(looking)) yield* this.#lookOnce(looking);
    } finally {
      this.#busy.splice(this.#busy.indexOf(looking), 1);
    }
  }

  /** Hangs every watch on the directory that has its name now, a step each. */
  verifyWatches(): Generator<void> {
    return this.#watches.verify();
  }

  forget(looking: Looking): void {
    this.#rests.forget(looking);
    this.#entryRests.forget(looking);
    this.#agenda.remove(looking);
    this.#entryAgenda.remove(looking);
    this.#watches.forget(looking);
  }

  #hear(looking: Looking, directory: string, entry: string | null): void {
    const isSmall = looking.hear?.(directory, entry) === true;
    const [agenda, rests] = isSmall ? [this.#entryAgenda, this.#entryRests] : [this.#agenda, this.#rests];
    agenda.add(looking, Math.max(this.#options.clock.now() + HINT_MS, rests.restedMs(looking)));
  }

  *#lookAtEntries(due: readonly Looking[]): Generator<void> {
    const { clock, has, onChange } = this.#options;
    for (const looking of due) {
      while (this.isBusy(looking)) yield;
      if (looking.lookAtEntries === undefined || !has(looking)) continue;
      this.#busy.push(looking);
      try {
        const { result, steps } = yield* counted(looking.lookAtEntries(clock.now()));
        this.#entryRests.note(looking, steps, clock.now());
        if (result) onChange();
      } finally {
        this.#busy.splice(this.#busy.indexOf(looking), 1);
      }
    }
  }

  /** Returns whether watches are new that should have been there before. */
  *#lookOnce(looking: Looking): Generator<void, boolean> {
    const look = looking.look(this.#options.clock.now());
    let isNew = false;
    for (let steps = 0; ; steps += 1) {
      const step = look.next();
      isNew = this.#aim(looking) || isNew;
      if (step.done) {
        this.#note(looking, step.value, steps);
        return isNew;
      }
      yield;
    }
  }

  #note(looking: Looking, changed: boolean, steps: number): void {
    const { clock, has, onChange } = this.#options;
    if (!has(looking)) return;
    this.#rests.note(looking, steps, clock.now());
    if (looking.dueMs !== null) this.#agenda.add(looking, looking.dueMs);
    if (changed) onChange();
  }

  /** Watches what hints at it now; true if that was not watched before. */
  #aim(looking: Looking): boolean {
    return !this.#isClosed && this.#options.has(looking) && this.#watches.want(looking, looking.hints);
  }
}

function* counted<T>(look: Generator<void, T>): Generator<void, { readonly result: T; readonly steps: number }> {
  for (let steps = 0; ; steps += 1) {
    const step = look.next();
    if (step.done) return { result: step.value, steps };
    yield;
  }
}
