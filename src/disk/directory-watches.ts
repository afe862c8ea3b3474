// Kernel watches on directories, one a directory however many care for it. What a watch says is a hint to look again,
// never a fact: it may come late, be about something else, or not come at all.

import { type FSWatcher, statSync, watch } from 'node:fs';
import { nameOf } from '../core/path.ts';
import type { Hint } from './hints.ts';
import { identityOf } from './identity.ts';
import { Interests } from './interests.ts';

export interface DirectoryWatchesOptions<T> {
  /** Where even asking for a directory may hang, none is watched. */
  readonly mayTouch: (directory: string) => boolean;
  /** `entry`: what came, went or changed in the directory; null: the directory itself did. */
  readonly onHint: (subject: T, directory: string, entry: string | null) => void;
  /** The kernel gave no watch: its limit is used up. May be said many times. */
  readonly onExhausted: (directory: string, error: Error) => void;
}

interface Watched<T> {
  readonly directory: string;
  readonly interests: Interests<T>;
  watcher: OurWatcher<T> | null;
  /** Of the directory that `watcher` hangs on. A watch stays with its inode, whatever the name means later. */
  identity: string | null;
  /** Whoever has pinned the directory looks at it himself. */
  isPinned: boolean;
  /** When that was looked at. */
  hungMs: number;
}

/** Hangs on the watcher itself: a map of ten thousand would cost more. */
const WATCHED = Symbol('watched');

interface OurWatcher<T> extends FSWatcher {
  /** Omitted: closed, what it still says is over. */
  [WATCHED]?: Watched<T>;
}

/** No watch keeps the process alive. */
const UNHELD = { persistent: false };

/** Ten thousand roots in one directory need not look ten thousand times where it is. */
const FRESH_MS = 5;

/** Shares watches among subjects. */
export class DirectoryWatches<T> {
  readonly #options: DirectoryWatchesOptions<T>;
  readonly #byDirectory = new Map<string, Watched<T>>();
  readonly #wanted = new Map<T, readonly Hint[]>();
  /** Two functions for all watches, not two for each: there are many. They find what they are about at their emitter. */
  readonly #onChange: (this: FSWatcher, event: string, name: string | Buffer | null) => void;
  readonly #onError: (this: FSWatcher, error: Error) => void;
  #isExhausted = false;

  constructor(options: DirectoryWatchesOptions<T>) {
    this.#options = options;
    const hear = (watched: Watched<T>, event: string, name: string | null) => this.#hear(watched, event, name);
    const fail = (watched: Watched<T>, error: Error) => this.#fail(watched, error);
    this.#onChange = function (event, name) {
      const { [WATCHED]: watched } = this as OurWatcher<T>;
      if (watched !== undefined) hear(watched, event, name === null ? null : String(name));
    };
    this.#onError = function (error) {
      const { [WATCHED]: watched } = this as OurWatcher<T>;
      if (watched !== undefined) fail(watched, error);
    };
  }

  /** Directories that are watched, and those that should be but are not. */
  counts(): { readonly watched: number; readonly unwatched: number } {
    const all = [...this.#byDirectory.values()];
    const watched = all.filter(({ watcher }) => watcher !== null).length;
    return { watched, unwatched: all.length - watched };
  }

  /**
   * From now on these hints concern the subject, and no others. True: a watch is new, and what changed before it was hung
   * gave no hint. Not said of a directory whose identity is given: what is in it is looked at after this.
   */
  want(subject: T, hints: readonly Hint[]): boolean {
    const before = this.#wanted.get(subject);
    if (before === hints) return false;
    this.#wanted.set(subject, hints);
    for (const { directory, identity } of before ?? []) this.#dropInterest(subject, directory, identity);
    let isNew = false;
    for (const hint of hints) isNew = this.#addInterest(subject, hint) || isNew;
    for (const { directory } of before ?? []) this.#closeIfUnused(directory);
    return isNew;
  }

  forget(subject: T): void {
    this.want(subject, []);
    this.#wanted.delete(subject);
  }

  /** Hangs every watch on the directory that has its name now, a step each; those that are pinned are left to want(). */
  *verify(): Generator<void> {
    this.#isExhausted = false;
    for (const watched of this.#byDirectory.values()) {
      if (watched.watcher !== null && watched.isPinned) continue;
      this.#hang(watched);
      yield;
    }
  }

  close(): void {
    for (const { watcher } of this.#byDirectory.values()) watcher?.close();
    this.#byDirectory.clear();
    this.#wanted.clear();
  }

  /** True: a watch is new. */
  #addInterest(subject: T, { directory, names, identity }: Hint): boolean {
    const watched = this.#entryOf(directory);
    watched.interests.add(subject, names);
    const before = watched.watcher;
    if (identity !== undefined) {
      if (before === null || identity !== watched.identity) this.#hang(watched, identity);
      watched.isPinned = identity === watched.identity;
      return false;
    }
    if (before === null || performance.now() - watched.hungMs > FRESH_MS) this.#hang(watched);
    return watched.watcher !== before;
  }

  #dropInterest(subject: T, directory: string, identity: string | undefined): void {
    const watched = this.#byDirectory.get(directory);
    if (watched === undefined) return;
    watched.interests.delete(subject);
    if (identity !== undefined) watched.isPinned = false;
  }

  #entryOf(directory: string): Watched<T> {
    const known = this.#byDirectory.get(directory);
    if (known !== undefined) return known;
    const made: Watched<T> = {
      directory,
      interests: new Interests(),
      watcher: null,
      identity: null,
      isPinned: false,
      hungMs: 0,
    };
    this.#byDirectory.set(directory, made);
    return made;
  }

  #closeIfUnused(directory: string): void {
    const watched = this.#byDirectory.get(directory);
    if (watched === undefined || !watched.interests.isEmpty) return;
    this.#unhang(watched);
    this.#byDirectory.delete(directory);
  }

  /** `seen`: the identity that somebody has seen just now. It must be older than the watch: then a swap in between shows. */
  #hang(watched: Watched<T>, seen?: string): void {
    const { directory } = watched;
    watched.hungMs = performance.now();
    const identity = this.#options.mayTouch(directory) ? (seen ?? directoryIdentity(directory)) : null;
    if (watched.watcher !== null && identity === watched.identity) return;
    this.#unhang(watched);
    if (identity === null || this.#isExhausted) return;
    try {
      const watcher: OurWatcher<T> = watch(directory, UNHELD);
      watcher[WATCHED] = watched;
      watcher.on('change', this.#onChange).on('error', this.#onError);
      watched.watcher = watcher;
      watched.identity = identity;
    } catch (error) {
      this.#fail(watched, error as Error);
    }
  }

  #unhang(watched: Watched<T>): void {
    if (watched.watcher !== null) {
      delete watched.watcher[WATCHED];
      watched.watcher.close();
    }
    watched.watcher = null;
    watched.identity = null;
  }

  #fail(watched: Watched<T>, error: Error): void {
    this.#unhang(watched);
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EMFILE') return;
    this.#isExhausted = true;
    this.#options.onExhausted(watched.directory, error);
  }

  /** An event that names the directory itself concerns everybody: it may have been moved, removed or shut. */
  #hear(watched: Watched<T>, event: string, name: string | null): void {
    const { interests, directory } = watched;
    const entry = name === nameOf(directory) ? null : name;
    const concerned = entry === null ? interests.everybody() : interests.in(entry, event === 'rename');
    for (const subject of concerned) this.#options.onHint(subject, directory, entry);
  }
}

function directoryIdentity(directory: string): string | null {
  try {
    const stat = statSync(directory, { bigint: true, throwIfNoEntry: false });
    return stat?.isDirectory() ? identityOf(stat) : null;
  } catch {
    return null;
  }
}
