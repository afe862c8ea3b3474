// Notices that policies, or the configuration, are no longer what was read. Hints (watch-hints.ts) make it quick, a sweep
// that compares signatures (watch-signature.ts) makes it sure, a settling time (core/settling.ts) keeps half a save out.

import type { RootsError } from '../core/errors.ts';
import { Settling } from '../core/settling.ts';
import { type Clock, LIVE_CLOCK } from '../disk/clock.ts';
import { runInSlices } from '../disk/slices.ts';
import { warnOnceOfLimit } from '../disk/watch-limit.ts';
import { type Hints, type OpenHints, openHints as openKernelHints } from './watch-hints.ts';
import { type Signature, signatureInSteps, signatureOf, type WatchedPlace } from './watch-signature.ts';

export interface PolicyWatcherOptions {
  /** Each is watched for itself, whether it is there yet or not. */
  readonly directories: readonly string[];
  readonly files?: readonly string[];
  /** The directory or file to read again. Called once a change, after it has settled, always after the last one. */
  readonly onChange: (path: string) => void;
  /** Said once: `WATCH_LIMIT`. What happens then is seen by the sweep, only later. */
  readonly onWarning: (warning: RootsError) => void;
  /**
   * How often all is looked at whatever the kernel says, unless that takes more than its share of the processor; 1,500 ms
   * by default, so that with settling a change takes < 2 s where nobody hints at it.
   */
  readonly sweepMs?: number;
  readonly openHints?: OpenHints;
  readonly clock?: Clock;
}

export interface PolicyWatcherCounts {
  readonly sweeps: number;
  /** What the last one took of the processor's time. */
  readonly lastSweepMs: number;
}

export interface PolicyWatcher extends Disposable {
  /** Looks at everything, in slices. */
  sweep(): Promise<void>;
  /** What onChange() named could not be read for now (EBUSY, EIO …): it is named again after the next sweep. */
  retry(path: string): void;
  counts(): PolicyWatcherCounts;
  close(): void;
}

const SWEEP_MS = 1_500;
/** Sweeps take at most one part of so many of the processor's time; with those of the roots, less than a hundredth. */
export const POLICY_SWEEP_SHARE = 400;

/**
 * Watches from now on. Open it before the first read: then no change falls in between. A read that comes after a change
 * but before its onChange() costs one onChange() too many.
 */
export function openPolicyWatcher(options: PolicyWatcherOptions): PolicyWatcher {
  return new Watcher(options);
}

class Watcher implements PolicyWatcher {
  readonly #watches: readonly Watch[];
  readonly #clock: Clock;
  readonly #sweepMs: number;
  #sweeps = 0;
  #lastSweepMs = 0;
  #closed = false;
  #cancelNextSweep: () => void = () => {};

  constructor(options: PolicyWatcherOptions) {
    const { sweepMs = SWEEP_MS, openHints = openKernelHints, clock = LIVE_CLOCK, onChange } = options;
    const onError = warnOnceOfLimit(options.onWarning);
    const places: readonly WatchedPlace[] = [
      ...options.directories.map((path) => ({ path, kind: 'directory' as const })),
      ...(options.files ?? []).map((path) => ({ path, kind: 'file' as const })),
    ];
    this.#watches = places.map((place) => new Watch(place, { onChange, onError, openHints, clock }));
    this.#clock = clock;
    this.#sweepMs = sweepMs;
    this.#sweepIn(sweepMs);
  }

  async sweep(): Promise<void> {
    let spentMs = 0;
    for (const watch of this.#watches) spentMs += await watch.look();
    this.#sweeps += 1;
    this.#lastSweepMs = spentMs;
    this.#sweepIn(Math.max(this.#sweepMs, POLICY_SWEEP_SHARE * spentMs));
  }

  retry(path: string): void {
    this.#watches.find((watch) => watch.path === path)?.forget();
  }

  counts(): PolicyWatcherCounts {
    return { sweeps: this.#sweeps, lastSweepMs: this.#lastSweepMs };
  }

  close(): void {
    this.#closed = true;
    this.#cancelNextSweep();
    for (const watch of this.#watches) watch.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #sweepIn(delayMs: number): void {
    this.#cancelNextSweep();
    if (!this.#closed) this.#cancelNextSweep = this.#clock.after(delayMs, () => void this.sweep());
  }
}

interface WatchOptions {
  readonly onChange: (path: string) => void;
  readonly onError: (path: string, error: Error) => void;
  readonly openHints: OpenHints;
  readonly clock: Clock;
}

/** Hints come in bursts: the first is followed at once, the next ones after a pause … */
const PAUSE_MS = 10;
/** … that is this many times as long as a look takes, where the directory is large. */
const PAUSE_LOOKS = 10;

/** One directory or file. */
class Watch {
  readonly #place: WatchedPlace;
  readonly #options: WatchOptions;
  readonly #clock: Clock;
  readonly #settling: Settling;
  #hints: Hints | undefined;
  #anchors: string | undefined;
  /** The look that is under way. */
  #looking: Promise<number> | null = null;
  /** What that one has looked at already may have changed. */
  #isStale = false;
  #cancelNextLook: () => void = () => {};
  #nextLookAtMs = Number.POSITIVE_INFINITY;
  /** When hints may be followed again. */
  #pauseEndsAtMs = 0;
  #closed = false;

  constructor(place: WatchedPlace, options: WatchOptions) {
    this.#place = place;
    this.#options = options;
    this.#clock = options.clock;
    const { text, anchors } = signatureOf(place);
    this.#settling = new Settling(text, this.#clock.now());
    this.#hang(anchors);
  }

  get path(): string {
    return this.#place.path;
  }

  /**
   * Compares what is there with what was told, tells what is new and settled, looks again later at what is not. Resolves to
   * what it took of the processor's time, ms.
   */
  look(): Promise<number> {
    if (this.#looking !== null) this.#isStale = true;
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #lookOnce(): Promise<number> {
    if (this.#closed) return 0;
    this.#cancelNextLook();
    this.#nextLookAtMs = Number.POSITIVE_INFINITY;
    this.#isStale = false;
    const beginMs = this.#clock.now();
    const take = (signature: Signature) => this.#take(signature, beginMs);
    function* steps(place: WatchedPlace): Generator<void> {
      take(yield* signatureInSteps(place));
    }
    return runInSlices(steps(this.#place), () => this.#closed);
  }

  forget(): void {
    this.#settling.forget();
  }

  close(): void {
    this.#closed = true;
    this.#cancelNextLook();
    this.#hints?.close();
  }

  #take({ text, anchors }: Signature, beginMs: number): void {
    this.#hang(anchors);
    const nowMs = this.#clock.now();
    this.#pauseEndsAtMs = nowMs + Math.max(PAUSE_MS, PAUSE_LOOKS * (nowMs - beginMs));
    if (this.#isStale) this.#lookIn(this.#pauseEndsAtMs - nowMs);
    const settled = this.#settling.observe(text, nowMs);
    if (settled.state === 'unsettled') this.#lookIn(settled.lookAgainInMs);
    if (settled.state === 'changed') this.#options.onChange(this.path);
  }

  /** Watches hang on directories and files, not on names: they are made anew when a name means something else. */
  #hang(anchors: string): void {
    if (anchors === this.#anchors) return;
    this.#anchors = anchors;
    this.#hints?.close();
    this.#hints = this.#options.openHints(this.#place, {
      onHint: () => this.#hear(),
      onError: (error) => this.#options.onError(this.path, error),
    });
  }

  #hear(): void {
    if (this.#looking !== null) this.#isStale = true;
    else this.#lookIn(this.#pauseEndsAtMs - this.#clock.now());
  }

  /** Also where a later look is due: what has changed must be the same for its time from when it changed, not from then. */
  #lookIn(waitMs: number): void {
    const atMs = this.#clock.now() + Math.max(0, waitMs);
    if (this.#closed || atMs >= this.#nextLookAtMs) return;
    this.#cancelNextLook();
    this.#nextLookAtMs = atMs;
    this.#cancelNextLook = this.#clock.after(Math.max(0, waitMs), () => void this.look());
  }
}
