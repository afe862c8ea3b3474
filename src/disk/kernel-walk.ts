// The one walk by which a path becomes canonical: the kernel's own. JavaScript's realpath is never used: it cancels `..`
// by text, ignores a last slash, and is many times slower.

import { isUtf8 } from 'node:buffer';
import {
  type BigIntStats,
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { errnoFailure, type Failure, failure, failureOf } from './failure.ts';

/** Where a walk arrived: links resolved by the kernel. */
export interface Located {
  readonly ok: true;
  readonly path: string;
}

/** And what lies there, of the same moment. */
export interface Reached extends Located {
  readonly stat: BigIntStats;
}

export interface KernelWalk {
  /** Does the walk itself refuse magic links? If not, resolve.ts looks for them. */
  readonly refusesMagicLinks: boolean;
  reach(path: string): Reached | Failure;
  /** For who needs the path alone: twice as fast. */
  locate(path: string): Located | Failure;
}

/** Opens a path as an `O_PATH` descriptor and throws as `node:fs` does. */
export type OpenPath = (path: string) => number;

/** The same number on every architecture that Node runs on; `fs.constants` lacks it. Node itself adds O_CLOEXEC. */
const O_PATH = 0o10000000;
const NOT_UTF8 = failure('leads to a name that is not valid UTF-8');

/**
 * The best walk there is: with `openat2NoMagicLinks` of the native layer where it is given and the kernel lets us call
 * it, else `O_PATH`; off Linux `realpath(3)`.
 */
export function kernelWalk(openat2NoMagicLinks?: OpenPath): KernelWalk {
  if (process.platform !== 'linux') return realpathWalk();
  if (openat2NoMagicLinks !== undefined && works(openat2NoMagicLinks)) {
    return walkByDescriptor(openat2NoMagicLinks, true);
  }
  return walkByDescriptor(openPath, false);
}

/** The walk of systems without /proc. */
export function realpathWalk(): KernelWalk {
  return { refusesMagicLinks: true, reach: reachByRealpath, locate: reachByRealpath };
}

function walkByDescriptor(open: OpenPath, refusesMagicLinks: boolean): KernelWalk {
  return {
    refusesMagicLinks,
    reach: (path) => byDescriptor(path, open, reachedAt),
    locate: (path) => locateItself(path) ?? byDescriptor(path, open, locatedAt),
  };
}

/**
 * Most paths lead through no link: if realpath(3) gives back the very text, nothing is left to resolve, nor can a magic
 * link have been on the way. null: ask the kernel in one walk. A swap during this look gains no more than one after it.
 */
function locateItself(path: string): Located | Failure | null {
  try {
    return realpathSync.native(path) === path && !path.includes('\ufffd') ? { ok: true, path } : null;
  } catch (error) {
    return failureOf(error);
  }
}

function openPath(path: string): number {
  return openSync(path, O_PATH);
}

/** Asked once, of a place that is always there: what a sandbox refuses later for one path says nothing about the call. */
function works(open: OpenPath): boolean {
  try {
    closeSync(open('/'));
    return true;
  } catch {
    return false;
  }
}

function byDescriptor<T>(path: string, open: OpenPath, look: (fd: number) => T | Failure): T | Failure {
  try {
    const fd = open(path);
    try {
      return look(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return failureOf(error);
  }
}

function reachedAt(fd: number): Reached | Failure {
  const stat = fstatSync(fd, { bigint: true });
  const located = locatedAt(fd, stat);
  return located.ok ? { ok: true, path: located.path, stat } : located;
}

function locatedAt(fd: number, stat?: BigIntStats): Located | Failure {
  const link = `/proc/self/fd/${fd}`;
  const path = readlinkSync(link);
  const isMangled = path.includes('\ufffd') && !isUtf8(readlinkSync(link, 'buffer'));
  return nameFault(path, isMangled, () => stat ?? fstatSync(fd, { bigint: true })) ?? { ok: true, path };
}

function reachByRealpath(path: string): Reached | Failure {
  try {
    const { native } = realpathSync;
    const reached = native(path);
    const isMangled = reached.includes('\ufffd') && !isUtf8(native(path, 'buffer'));
    const stat = statSync(path, { bigint: true });
    return nameFault(reached, isMangled, () => stat) ?? { ok: true, path: reached, stat };
  } catch (error) {
    return failureOf(error);
  }
}

/**
 * Why this is no name of a place. `isMangled`: the text stands for bytes that are not UTF-8; they are read only where it
 * may be so, since that costs twice as much.
 */
function nameFault(path: string, isMangled: boolean, statOf: () => BigIntStats): Failure | null {
  if (isMangled) return NOT_UTF8;
  if (!path.startsWith('/')) return failure('leads to something that has no path');
  return path.endsWith(' (deleted)') && !isAt(path, statOf()) ? errnoFailure('ENOENT') : null;
}

/** The kernel writes " (deleted)" behind the old name of what is gone; a name may also really end so. */
function isAt(path: string, { dev, ino }: BigIntStats): boolean {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found !== undefined && found.dev === dev && found.ino === ino;
}
