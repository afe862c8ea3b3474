// Notices that policies, or the configuration, are no longer what was read. Hints (watch-hints.ts) make it quick, a sweep
// that compares signatures (watch-signature.ts) makes it sure, a settling time (core/settling.ts) keeps half a save out.

import type { RootsError } from '../core/errors.ts';
import { Settling } from '../core/settling.ts';
import { warnOnceOfLimit } from '../disk/watch-limit.ts';
import { type Hints, type OpenHints, openHints as openKernelHints } from './watch-hints.ts';

import { signatureOf, type WatchedPlace } from './watch-signature.ts';

export interface PolicyWatcherOptions {
  /** Each is watched for itself, whether it is there yet or not. */
  readonly directories: readonly string[];
  readonly files?: readonly string[];
  /** The directory or file to read again. Called once a change, after it has settled, always after the last one. */
  readonly onChange: (path: string) => void;
  /** Said once: `WATCH_LIMIT`. What happens then is seen by the sweep, only later. */
  readonly onWarning: (warning: RootsError) => void;
  /** How often all is looked at whatever the kernel says; 1,500 ms by default, so that with settling it takes < 2 s. */
  readonly sweepMs?: number;
  readonly openHints?: OpenHints;
}

export interface PolicyWatcher extends Disposable {
  /** Looks at everything now. */
  sweep(): void;
  /** What onChange() named could not be read for now (EBUSY, EIO …): it is named again after the next sweep. */
  retry(path: string): void;
  close(): void;
}

/**
 * Watches from now on. Open it before the first read: then no change falls in between. A read that comes after a change
 * but before its onChange() costs one onChange() too many.
 */
export function openPolicyWatcher(options: PolicyWatcherOptions): PolicyWatcher {
  const { sweepMs = 1_500, openHints = openKernelHints, onChange } = options;
  const onError = warnOnceOfLimit(options.onWarning);
  const places: readonly WatchedPlace[] = [
    ...options.directories.map((path) => ({ path, kind: 'directory' as const })),
    ...(options.files ?? []).map((path) => ({ path, kind: 'file' as const })),
  ];
  const watches = places.map((place) => new Watch(place, { onChange, onError, openHints }));

  const sweep = () => {
    for (const watch of watches) watch.look();
  };
  const timer = setInterval(sweep, sweepMs);
  const retry = (path: string) => watches.find((watch) => watch.path === path)?.forget();
  const close = () => {
    clearInterval(timer);
    for (const watch of watches) watch.close();
  };
  return { sweep, retry, close, [Symbol.dispose]: close };
}

interface WatchOptions {
  readonly onChange: (path: string) => void;
  readonly onError: (path: string, error: Error) => void;
  readonly openHints: OpenHints;
}

/** Hints come in bursts: the first is followed at once, the next ones after a pause … */
const PAUSE_MS = 10;
/** … that is this many times as long as a look takes, where the directory is large. */
const PAUSE_LOOKS = 10;

/** One directory or file. */
class Watch {
  readonly #place: WatchedPlace;
  readonly #options: WatchOptions;
  readonly #settling: Settling;
  #hints: Hints | undefined;
  #anchors: string | undefined;
  #nextLook: NodeJS.Timeout | undefined;
  #nextLookAtMs = Number.POSITIVE_INFINITY;
  /** When hints may be followed again. */
  #pauseEndsAtMs = 0;
  #closed = false;

  constructor(place: WatchedPlace, options: WatchOptions) {
    this.#place = place;
    this.#options = options;
    const { text, anchors } = signatureOf(place);
    this.#settling = new Settling(text, performance.now());
    this.#hang(anchors);
  }

  get path(): string {
    return this.#place.path;
  }

  /** Compares what is there with what was told, tells what is new and settled, looks again later at what is not. */
  look(): void {
    if (this.#closed) return;
    clearTimeout(this.#nextLook);
    this.#nextLookAtMs = Number.POSITIVE_INFINITY;
    const beginMs = performance.now();
    const { text, anchors } = signatureOf(this.#place);
    this.#hang(anchors);
    const nowMs = performance.now();
    this.#pauseEndsAtMs = nowMs + Math.max(PAUSE_MS, PAUSE_LOOKS * (nowMs - beginMs));
    const settled = this.#settling.observe(text, nowMs);
    if (settled.state === 'unsettled') this.#lookIn(settled.lookAgainInMs);
    if (settled.state === 'changed') this.#options.onChange(this.path);
  }

  forget(): void {
    this.#settling.forget();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#nextLook);
    this.#hints?.close();
  }

  /** Watches hang on directories and files, not on names: they are made anew when a name means something else. */
  #hang(anchors: string): void {
    if (anchors === this.#anchors) return;
    this.#anchors = anchors;
    this.#hints?.close();
    this.#hints = this.#options.openHints(this.#place, {
      onHint: () => this.#lookIn(this.#pauseEndsAtMs - performance.now()),
      onError: (error) => this.#options.onError(this.path, error),
    });
  }

  /** Also where a later look is due: what has changed must be the same for its time from when it changed, not from then. */
  #lookIn(waitMs: number): void {
    const atMs = performance.now() + Math.max(0, waitMs);
    if (this.#closed || atMs >= this.#nextLookAtMs) return;
    clearTimeout(this.#nextLook);
    this.#nextLookAtMs = atMs;
    this.#nextLook = setTimeout(() => this.look(), waitMs);
  }
}
