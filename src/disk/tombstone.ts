// A directory that is told where nothing may be: an empty list would leave a server what it had (reference filesystem
// server), or mean everything. It grants nothing: empty, and nobody can write in it.

import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { ACCESS_META, NO_ACCESS } from '../core/access.ts';
import { RootsError } from '../core/errors.ts';
import { asRealPath, type RealPath, toFileUri } from '../core/path.ts';
import { isThere } from './process-stat.ts';
import { randomBytes } from './random.ts';
import { resolvePath } from './resolve.ts';

const SYSTEM_DIRECTORIES = ['/var/empty', '/usr/share/empty'];
const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const TOMBSTONE_NAME = 'no access (rootsd)';

export interface TombstoneOptions {
  readonly uid: number;
  /** Where one of our own may be made, the first that works. */
  readonly runtimeDirectories: readonly string[];
  /** Made by the system; tests name their own. */
  readonly systemDirectories?: readonly string[];
}

/** As `roots/list` has it. */
export interface TombstoneRoot {
  readonly uri: string;
  readonly name: string;
  readonly _meta: { readonly [ACCESS_META]: typeof NO_ACCESS };
}

/** One directory that is in use, pinned. */
interface Pinned {
  readonly path: RealPath;
  readonly identity: string;
  readonly isOurs: boolean;
}

export class Tombstone {
  readonly #options: TombstoneOptions;
  #pinned: Pinned | null = null;

  constructor(options: TombstoneOptions) {
    this.#options = options;
  }

  /**
   * The path of a directory that is empty and unwritable, checked now; another one where the last no longer is.
   * Throws a RootsError TOMBSTONE_FAILED where none can be made.
   */
  use(): RealPath {
    if (this.#pinned === null || !this.#holds(this.#pinned)) {
      this.close();
      this.#pinned = this.#findSystem() ?? this.#make();
    }
    return this.#pinned.path;
  }

  /** The root to tell in place of an empty list. */
  root(): TombstoneRoot {
    return { uri: toFileUri(this.use()), name: TOMBSTONE_NAME, _meta: { [ACCESS_META]: NO_ACCESS } };
  }

  /** Removes what we made, if it still is what we made. */
  close(): void {
    const pinned = this.#pinned;
    this.#pinned = null;
    if (!pinned?.isOurs || !this.#holds(pinned)) return;
    try {
      rmdirSync(pinned.path);
    } catch {
      // Somebody was quicker, or the file system is gone: nothing of ours is left to remove.
    }
  }

  #holds(pinned: Pinned): boolean {
    return inspect(pinned.path, (stats) => this.#isClosed(stats, pinned.isOurs)) === pinned.identity;
  }

  /** Root could write in a directory of root's: it gets one that says no to it as clearly as a mode can. */
  #findSystem(): Pinned | null {
    if (this.#options.uid === 0) return null;
    for (const path of this.#options.systemDirectories ?? SYSTEM_DIRECTORIES) {
      const identity = inspect(path, (stats) => this.#isClosed(stats, false));
      if (identity !== null) return { path: asRealPath(path), identity, isOurs: false };
    }
    return null;
  }

  #make(): Pinned {
    let fault: unknown = 'no runtime directory is known';
    for (const directory of this.#options.runtimeDirectories) {
      const resolved = resolvePath(directory);
      if (!resolved.ok) continue;
      this.#removeStale(resolved.path);
      const path = join(resolved.path, newName(process.pid));
      try {
        mkdirSync(path, { mode: 0o500 });
      } catch (error) {
        fault = (error as Error).message;
        continue;
      }
      const identity = inspect(path, (stats) => this.#isClosed(stats, true));
      if (identity !== null) return { path: asRealPath(path), identity, isOurs: true };
    }
    throw new RootsError('TOMBSTONE_FAILED', { what: String(fault) });
  }

  /**
   * Removes what a process of ours that was killed has left here: ours, still empty and closed, and its maker is gone. A number that
   * another process has meanwhile keeps one a while longer. In another PID namespace a maker may live unseen: it finds its
   * directory gone at the next use, and makes another.
   */
  #removeStale(directory: string): void {
    for (const name of namesIn(directory)) {
      const maker = makerOf(name);
      const path = join(directory, name);
      if (maker === null || isThere(maker) || inspect(path, (stats) => this.#isClosed(stats, true)) === null) continue;
      try {
        rmdirSync(path);
      } catch {
        // Another one was quicker, or has put something in.
      }
    }
  }

  #isClosed(stats: Stats, isOurs: boolean): boolean {
    return isOurs
      ? stats.uid === this.#options.uid && (stats.mode & 0o777) === 0o500
      : stats.uid === 0 && (stats.mode & 0o022) === 0;
  }
}

/** `empty-`, 40 random bits, and which process made it: 16 hex digits. */
function newName(pid: number): string {
  return `empty-${randomBytes(5).toString('hex')}${pid.toString(16).padStart(6, '0')}`;
}

/** The process that made a directory of that name, or null where it is none of ours. */
function makerOf(name: string): number | null {
  const pid = /^empty-[0-9a-f]{10}([0-9a-f]{6})$/.exec(name)?.[1];
  return pid === undefined ? null : Number.parseInt(pid, 16);
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** `device:inode` of an empty directory that is reached without links and passes the test; null otherwise. */
function inspect(path: string, test: (stats: Stats) => boolean): string | null {
  let fd: number;
  try {
    fd = openSync(path, OPEN_DIRECTORY);
  } catch {
    return null;
  }
  try {
    const stats = fstatSync(fd);
    const here = process.platform === 'linux' ? `/proc/self/fd/${fd}` : path;
    if (process.platform === 'linux' && readlinkSync(here) !== path) return null;
    return test(stats) && readdirSync(here).length === 0 ? `${stats.dev}:${stats.ino}` : null;
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}
