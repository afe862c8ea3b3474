// Keeps Places true. The truth is what a look at the disk says: everything is looked at in a sweep, and what the kernel
// hints at is looked at at once. A hint that never comes costs time, nothing else.

import type { RootsError } from '../core/errors.ts';
import type { PathPattern } from '../core/pattern.ts';
import type { Places } from '../core/place.ts';
import type { RootDeclaration } from '../core/policy.ts';
import { runAtOnce } from '../core/steps.ts';
import { type Clock, SYSTEM_CLOCK } from './clock.ts';
import { mountedOver } from './hints.ts';
import { type KernelWalk, kernelWalk } from './kernel-walk.ts';
import type { Looking } from './looking.ts';
import { Lookout } from './lookout.ts';
import { Looks } from './looks.ts';
import { MountWatch } from './mount-watch.ts';
import { type MountChange, MountTable } from './mounts.ts';
import { type Leads, PathLook } from './path-look.ts';
import type { ReadProject } from './project-file.ts';
import { runInSlices } from './slices.ts';
import { SlowPlaces } from './slow-places.ts';
import { ROOT_SWEEP_SHARE, Sweeps } from './sweeps.ts';
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

class Watcher implements RootWatcher {
  readonly #options: RootWatcherOptions;
  readonly #clock: Clock;
  readonly #looks: Looks;
  readonly #sweeps: Sweeps;
  readonly #mounts: MountTable;
  readonly #mountWatch: MountWatch;
  readonly #slow: SlowPlaces<Looking>;
  readonly #lookout: Lookout;
  readonly #all: WatchedPlaces;
  /** New, and not looked at yet. */
  #unseen: Looking[] = [];
  /** Runs while something is unseen. */
  #first: Promise<void> | null = null;
  #changed = false;
  #closed = false;

  constructor(options: RootWatcherOptions) {
    const { clock = SYSTEM_CLOCK, walk = kernelWalk(), readProject, onWarning } = options;
    this.#options = options;
    this.#clock = clock;
    this.#mounts = openMountTable(options);
    this.#sweeps = new Sweeps({ clock, sweep: () => this.#run(this.#sweepSteps()) });
    this.#slow = new SlowPlaces({ clock, onAnswer: (looking) => this.#looks.lookSoon(looking) });
    this.#lookout = new Lookout({ walk, mounts: this.#mounts, clock, helper: options.isPatient ? this.#slow : null });
    this.#looks = new Looks({
      clock,
      has: (looking) => this.#all.has(looking),
      run: (steps) => void this.#run(steps),
      onChange: () => this.#noteChange(),
      mayTouch: this.#lookout.mayTouch,
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
      this.#sweeps.nextIn(0);
      return Promise.resolve();
    }
    this.#first ??= this.#lookFirst();
    return this.#first;
  }

  ready(): Promise<void> {
    return this.#first ?? Promise.resolve();
  }

  sweep(): Promise<void> {
    return this.#sweeps.next();
  }

  resolve(path: string): Promise<Leads> {
    const look = new PathLook(path, this.#lookout);
    runAtOnce(look.look());
    return look.leads;
  }

  counts(): RootWatcherCounts {
    const { size: places } = this.#all;
    return { places, ...this.#looks.counts(), ...this.#slow.counts(), ...this.#sweeps.counts() };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#sweeps.close();
    this.#slow.close();
    this.#mountWatch.close();
    this.#mounts.close();
    this.#looks.close();
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
    this.#sweeps.nextIn(0);
  }

  *#lookAtUnseen(): Generator<void> {
    const unseen = this.#unseen;
    this.#unseen = [];
    for (const looking of unseen) {
      // A sweep may be in the middle of it, and goes on when this slice is over.
      while (this.#looks.isBusy(looking)) yield;
      if (this.#all.has(looking)) yield* this.#lookNew(looking);
      yield;
    }
    this.#all.invalidate();
  }

  /** Without patience nothing is watched before the first sweep: whoever only asks once has no use for it. */
  #lookNew(looking: Looking): Generator<void, unknown> {
    return this.#options.isPatient ? this.#looks.lookAt(looking) : looking.look(this.#clock.now());
  }

  *#takeAnswers(): Generator<void> {
    for (const looking of this.#slow.subjects()) {
      if (this.#all.has(looking)) yield* looking.look(this.#clock.now());
      yield;
    }
    this.#all.invalidate();
  }

  *#sweepSteps(): Generator<void> {
    yield* this.#looks.verifyWatches();
    yield* this.#lookAtMounted();
    yield* this.#looks.lookAtAll(this.#all.everything());
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
      yield* this.#looks.lookAt(looking);
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

  #noteChange(): void {
    this.#changed = true;
    this.#all.invalidate();
  }

  /** Before the first sweep there is no need: that one comes to everything. */
  #watchSoon(looking: Looking): void {
    if (this.#sweeps.counts().sweeps > 0) this.#looks.lookSoon(looking);
  }

  #forget(looking: Looking): void {
    this.#slow.forget(looking);
    this.#looks.forget(looking);
  }
}

function openMountTable({ mountsChanged, mountInfo }: RootWatcherOptions): MountTable {
  return new MountTable({
    ...(mountsChanged === undefined ? {} : { mountsChanged }),
    ...(mountInfo === undefined ? {} : { file: mountInfo }),
  });
}
