// Keeps Places true. The truth is what a look at the disk says: everything is looked at in a sweep, and what the kernel
// hints at is looked at at once. A hint that never comes costs time, nothing else.

import type { RootsError } from '../core/errors.ts';
import type { PathPattern } from '../core/pattern.ts';
import type { Places } from '../core/place.ts';
import type { RootDeclaration } from '../core/policy.ts';
import { runAtOnce } from '../core/steps.ts';
import { Agenda } from './agenda.ts';
import { type Clock, SYSTEM_CLOCK } from './clock.ts';
import { DirectoryWatches } from './directory-watches.ts';
import { mountedOver } from './hints.ts';
import { type KernelWalk, kernelWalk } from './kernel-walk.ts';
import type { Looking } from './looking.ts';
import { Lookout } from './lookout.ts';
import { MountWatch } from './mount-watch.ts';
import { type MountChange, MountTable } from './mounts.ts';
import { type Leads, PathLook } from './path-look.ts';
import type { ReadProject } from './project-file.ts';
import { Rests } from './rests.ts';
import { runInSlices } from './slices.ts';
import { SlowPlaces } from './slow-places.ts';
import { warnOnceOfLimit } from './watch-limit.ts';
import { WatchedPlaces } from './watched-places.ts';

export interface RootWatcherOptions {
  readonly declarations: readonly RootDeclaration[];
  /** Of denies, exceptions, ceilings and sensitive places. */
  readonly patterns: readonly PathPattern[];
  readonly readProject: ReadProject;
  /** places() says something else than before. Once a change, always after the last one; never out of update(). */
  readonly onChange: () => void;
  /** WATCH_LIMIT, ROOT_MEMBER_NAME, PATTERN_TOO_WIDE; each thing once. */
  readonly onWarning: (warning: RootsError) => void;
  /** Mounts have come, gone or changed that have to do with what is watched. What that means for a root, onChange tells. */
  readonly onMounts?: (changes: readonly MountChange[]) => void;
  /**
   * Nothing may hang, or hold up everything else: mounts that may not answer are left to a helper process, and what is
   * new is looked at in slices. Else all is looked at by this thread before update() returns, as a command does it.
   */
  readonly isPatient?: boolean;
  readonly walk?: KernelWalk;
  /** Of the native layer: without it mounts are seen by the sweep alone. */
  readonly mountsChanged?: (fd: number) => boolean;
  /** Where mounts are listed; tests have their own. */
  readonly mountInfo?: string;
  readonly clock?: Clock;
}

export interface RootWatcherCounts {
  /** Places looked at in a sweep. */
  readonly places: number;
  /** Directories with a kernel watch, and those that should have one. */
  readonly watched: number;
  readonly unwatched: number;
  /** Places on mounts that may hang, and helper processes that hang there and cannot be killed. */
  readonly slow: number;
  readonly abandoned: number;
  readonly sweeps: number;
  /** What the last sweep took of the processor's time. */
  readonly lastSweepMs: number;
}

export interface RootWatcher extends Disposable {
  /** What the disk says now, as far as it is known. */
  places(): Places;
  /**
   * Watches these and no others. When it resolves, what is new has been looked at and places() count; before, nothing must
   * be decided from them: what a path really names may not be known. Meanwhile no change is told.
   */
  update(declarations: readonly RootDeclaration[], patterns: readonly PathPattern[]): Promise<void>;
  /** As update(), for the beginning. */
  ready(): Promise<void>;
  /** Where a path leads, as resolvePath() says it, but where that may hang it takes a moment, and no longer. */
  resolve(path: string): Promise<Leads>;
  /** Looks at everything; resolves when what has changed is told. */
  sweep(): Promise<void>;
  counts(): RootWatcherCounts;
  close(): void;
}

export function openRootWatcher(options: RootWatcherOptions): RootWatcher {
  return new Watcher(options);
}

/** Hints come in bursts. */
const HINT_MS = 10;
const SWEEP_MS = 2_000;
/**
 * Sweeps, and what else there is to do while nothing happens, take at most one part of so many of the processor's time: with
 * the sweeps of the policies (policy/watch-policies.ts), less than a hundredth.
 */
export const ROOT_SWEEP_SHARE = 160;
/** Most looks take two steps, and a step some 20 us. */
const ALL_REST = { fewSteps: 16, restMsPerStep: 2 };
/** What comes has often gone again, which is more to look at. */
const ENTRIES_REST = { fewSteps: 0, restMsPerStep: 5 };

class Watcher implements RootWatcher {
  readonly #options: RootWatcherOptions;
  readonly #clock: Clock;
  readonly #agenda: Agenda<Looking>;
  /** Of whom single entries are looked at. */
  readonly #entryAgenda: Agenda<Looking>;
  readonly #watches: DirectoryWatches<Looking>;
  readonly #mounts: MountTable;
  readonly #mountWatch: MountWatch;
  readonly #slow: SlowPlaces<Looking>;
  readonly #lookout: Lookout;
  readonly #all: WatchedPlaces;
  /** In the middle of a look: one or two. */
  readonly #busy: Looking[] = [];
  readonly #rests = new Rests<Looking>(ALL_REST);
  readonly #entryRests = new Rests<Looking>(ENTRIES_REST);
  /** New, and not looked at yet. */
  #unseen: Looking[] = [];
  /** Runs while something is unseen. */
  #first: Promise<void> | null = null;
  #changed = false;
  #closed = false;
  #sweeps = 0;
  #lastSweepMs = 0;
  #running: Promise<void> = Promise.resolve();
  #queued: Promise<void> | null = null;
  #cancelNextSweep: () => void = () => {};

  constructor(options: RootWatcherOptions) {
    const { clock = SYSTEM_CLOCK, walk = kernelWalk(), readProject, onWarning } = options;
    this.#options = options;
    this.#clock = clock;
    this.#mounts = openMountTable(options);
    this.#agenda = new Agenda(clock, (due) => void this.#run(this.#lookAtAll(due)));
    this.#entryAgenda = new Agenda(clock, (due) => void this.#run(this.#lookAtEntries(due)));
    this.#slow = new SlowPlaces({ clock, onAnswer: (looking) => this.#agenda.add(looking, clock.now()) });
    this.#lookout = new Lookout({ walk, mounts: this.#mounts, clock, helper: options.isPatient ? this.#slow : null });
    this.#watches = new DirectoryWatches({
      mayTouch: this.#lookout.mayTouch,
      onHint: (looking, directory, entry) => this.#hear(looking, directory, entry),
      onExhausted: warnOnceOfLimit(onWarning),
    });
    this.#all = new WatchedPlaces({
      lookout: this.#lookout,
      readProject,
      onWarning,
      onFound: (looking) => this.#watchSoon(looking),
      onForgotten: (looking) => this.#forget(looking),
    });
    this.#mountWatch = new MountWatch({
      mounts: this.#mounts,
      clock,
      onChange: () => this.#run(this.#lookAtMounted()),
      share: ROOT_SWEEP_SHARE,
    });
    void this.update(options.declarations, options.patterns);
  }

  places(): Places {
    return this.#all.places();
  }

  update(declarations: readonly RootDeclaration[], patterns: readonly PathPattern[]): Promise<void> {
    this.#unseen = this.#unseen.concat(this.#all.replace(declarations, patterns));
    if (!this.#options.isPatient) {
      runAtOnce(this.#lookAtUnseen());
      this.#sweepIn(0);
      return Promise.resolve();
    }
    this.#first ??= this.#lookFirst();
    return this.#first;
  }

  ready(): Promise<void> {
    return this.#first ?? Promise.resolve();
  }

  sweep(): Promise<void> {
    this.#queued ??= this.#running.then(() => {
      this.#queued = null;
      this.#running = this.#sweepNow();
      return this.#running;
    });
    return this.#queued;
  }

  resolve(path: string): Promise<Leads> {
    const look = new PathLook(path, this.#lookout);
    runAtOnce(look.look());
    return look.leads;
  }

  counts(): RootWatcherCounts {
    const { size: places } = this.#all;
    const [sweeps, lastSweepMs] = [this.#sweeps, this.#lastSweepMs];
    return { places, ...this.#watches.counts(), ...this.#slow.counts(), sweeps, lastSweepMs };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelNextSweep();
    this.#slow.close();
    this.#mountWatch.close();
    this.#mounts.close();
    this.#agenda.close();
    this.#entryAgenda.close();
    this.#watches.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Until nothing is left unseen, whatever is added meanwhile. */
  async #lookFirst(): Promise<void> {
    do {
      await runInSlices(this.#lookAtUnseen(), () => this.#closed);
      await this.#slow.settled();
      await runInSlices(this.#takeAnswers(), () => this.#closed);
    } while (this.#unseen.length > 0 && !this.#closed);
    this.#first = null;
    // Whoever waits for this reads places() anew.
    this.#changed = false;
    this.#sweepIn(0);
  }

  *#lookAtUnseen(): Generator<void> {
    const unseen = this.#unseen;
    this.#unseen = [];
    for (const looking of unseen) {
      // A sweep may be in the middle of it, and goes on when this slice is over.
      while (this.#busy.includes(looking)) yield;
      if (this.#all.has(looking)) yield* this.#lookNew(looking);
      yield;
    }
    this.#all.invalidate();
  }

  /** Without patience nothing is watched before the first sweep: whoever only asks once has no use for it. */
  #lookNew(looking: Looking): Generator<void, unknown> {
    return this.#options.isPatient ? this.#lookAt(looking) : looking.look(this.#clock.now());
  }

  *#takeAnswers(): Generator<void> {
    for (const looking of this.#slow.subjects()) {
      if (this.#all.has(looking)) yield* looking.look(this.#clock.now());
      yield;
    }
    this.#all.invalidate();
  }

  async #sweepNow(): Promise<void> {
    if (this.#closed) return;
    this.#cancelNextSweep();
    this.#lastSweepMs = await this.#run(this.#sweepSteps());
    this.#sweeps += 1;
    this.#sweepIn(Math.max(SWEEP_MS, ROOT_SWEEP_SHARE * this.#lastSweepMs));
  }

  #sweepIn(delayMs: number): void {
    if (this.#closed) return;
    this.#cancelNextSweep();
    this.#cancelNextSweep = this.#clock.after(delayMs, () => void this.sweep());
  }

  *#sweepSteps(): Generator<void> {
    yield* this.#watches.verify();
    yield* this.#lookAtMounted();
    yield* this.#lookAtAll(this.#all.everything());
  }

  /** Looks at what a change of the mount table may have to do with. */
  *#lookAtMounted(): Generator<void> {
    const changes = this.#mounts.takeChanges();
    if (changes.length === 0) return;
    const points = new Set(changes.map(({ point }) => point));
    const concerned = new Set<string>();
    for (const looking of this.#all.everything()) {
      yield;
      const over = looking.hints.map((hint) => mountedOver(hint, points)).filter((point) => point !== undefined);
      if (over.length === 0) continue;
      for (const point of over) concerned.add(point);
      yield* this.#lookAt(looking);
    }
    if (concerned.size > 0) this.#options.onMounts?.(changes.filter(({ point }) => concerned.has(point)));
  }

  /** Takes the steps and tells what has changed. */
  async #run(steps: Iterator<void>): Promise<number> {
    // What is mounted since the last look may hang.
    if (this.#mounts.isPolled) this.#mounts.refresh();
    const spentMs = await runInSlices(steps, () => this.#closed);
    if (this.#changed && !this.#closed && this.#first === null) {
      this.#changed = false;
      this.#options.onChange();
    }
    return spentMs;
  }

  *#lookAtAll(everything: Iterable<Looking>): Generator<void> {
    for (const looking of everything) {
      yield* this.#lookAt(looking);
      yield;
    }
  }

  #hear(looking: Looking, directory: string, entry: string | null): void {
    const isSmall = looking.hear?.(directory, entry) === true;
    const [agenda, rests] = isSmall ? [this.#entryAgenda, this.#entryRests] : [this.#agenda, this.#rests];
    agenda.add(looking, Math.max(this.#clock.now() + HINT_MS, rests.restedMs(looking)));
  }

  *#lookAtEntries(due: readonly Looking[]): Generator<void> {
    for (const looking of due) {
      while (this.#busy.includes(looking)) yield;
      if (looking.lookAtEntries === undefined || !this.#all.has(looking)) continue;
      this.#busy.push(looking);
      try {
        const { result, steps } = yield* counted(looking.lookAtEntries(this.#clock.now()));
        this.#entryRests.note(looking, steps, this.#clock.now());
        if (result) this.#noteChange();
      } finally {
        this.#busy.splice(this.#busy.indexOf(looking), 1);
      }
    }
  }

  *#lookAt(looking: Looking): Generator<void> {
    if (this.#busy.includes(looking)) {
      this.#agenda.add(looking, this.#clock.now() + HINT_MS);
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

  /** Returns whether watches are new that should have been there before. */
  *#lookOnce(looking: Looking): Generator<void, boolean> {
    const look = looking.look(this.#clock.now());
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
    if (!this.#all.has(looking)) return;
    this.#rests.note(looking, steps, this.#clock.now());
    if (looking.dueMs !== null) this.#agenda.add(looking, looking.dueMs);
    if (changed) this.#noteChange();
  }

  #noteChange(): void {
    this.#changed = true;
    this.#all.invalidate();
  }

  /** Watches what hints at it now; true if that was not watched before. */
  #aim(looking: Looking): boolean {
    return !this.#closed && this.#all.has(looking) && this.#watches.want(looking, looking.hints);
  }

  /** Before the first sweep there is no need: that one comes to everything. */
  #watchSoon(looking: Looking): void {
    if (this.#sweeps > 0) this.#agenda.add(looking, this.#clock.now());
  }

  #forget(looking: Looking): void {
    this.#slow.forget(looking);
    this.#rests.forget(looking);
    this.#entryRests.forget(looking);
    this.#agenda.remove(looking);
    this.#entryAgenda.remove(looking);
    this.#watches.forget(looking);
  }
}

function* counted<T>(look: Generator<void, T>): Generator<void, { readonly result: T; readonly steps: number }> {
  for (let steps = 0; ; steps += 1) {
    const step = look.next();
    if (step.done) return { result: step.value, steps };
    yield;
  }
}

function openMountTable({ mountsChanged, mountInfo }: RootWatcherOptions): MountTable {
  return new MountTable({
    ...(mountsChanged === undefined ? {} : { mountsChanged }),
    ...(mountInfo === undefined ? {} : { file: mountInfo }),
  });
}
