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

/** What a walk arrived at: links resolved by the kernel, and what lies there, of the same moment. */
export interface Reached {
  readonly ok: true;
  readonly path: string;
  readonly stat: BigIntStats;
}

export interface KernelWalk {
  /** Does the walk itself refuse magic links? If not, resolve.ts looks for them. */
  readonly refusesMagicLinks: boolean;
  reach(path: string): Reached | Failure;
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
    return { refusesMagicLinks: true, reach: (path) => reachByDescriptor(path, openat2NoMagicLinks) };
  }
  return { refusesMagicLinks: false, reach: (path) => reachByDescriptor(path, openPath) };
}

/** The walk of systems without /proc. */
export function realpathWalk(): KernelWalk {
  return { refusesMagicLinks: true, reach: reachByRealpath };
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

function reachByDescriptor(path: string, open: OpenPath): Reached | Failure {
  try {
    const fd = open(path);
    try {
      const link = `/proc/self/fd/${fd}`;
      return named(readlinkSync(link), () => readlinkSync(link, 'buffer'), fstatSync(fd, { bigint: true }));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return failureOf(error);
  }
}

function reachByRealpath(path: string): Reached | Failure {
  try {
    const { native } = realpathSync;
    return named(native(path), () => native(path, 'buffer'), statSync(path, { bigint: true }));
  } catch (error) {
    return failureOf(error);
  }
}

/** Reads the name as text, and as bytes only where the text may be a mangled one: bytes cost twice as much. */
function named(path: string, readBytes: () => Buffer, stat: BigIntStats): Reached | Failure {
  if (path.includes('\ufffd') && !isUtf8(readBytes())) return NOT_UTF8;
  if (!path.startsWith('/')) return failure('leads to something that has no path');
  if (path.endsWith(' (deleted)') && !isAt(path, stat)) return errnoFailure('ENOENT');
  return { ok: true, path, stat };
}

/** The kernel writes " (deleted)" behind the old name of what is gone; a name may also really end so. */
function isAt(path: string, { dev, ino }: BigIntStats): boolean {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found !== undefined && found.dev === dev && found.ino === ino;
}
