import { accessSync, constants, lstatSync } from 'node:fs';
import type { Place } from '../core/place.ts';
import type { Observation } from './availability.ts';
import { type Failure, failureOf } from './failure.ts';
import { identityOf, placeOf } from './identity.ts';
import type { KernelWalk } from './kernel-walk.ts';
import { childOf } from './link-walk.ts';
import { resolvePath } from './resolve.ts';

/** Errors of what is away for a moment: deleted, a device or a file server that does not answer. */
const PASSING: ReadonlySet<string | null> = new Set(['ENOENT', 'EIO', 'ESTALE', 'EAGAIN']);

/** May the failure be over in a moment, so that what was known last still counts? */
export function isPassing({ errno }: Failure): boolean {
  return PASSING.has(errno);
}

/** Looks at a declared root: its path as written, links followed. */
export function observeRoot(path: string, kind: 'directory' | 'file', walk: KernelWalk): Observation {
  const resolved = resolvePath(path, walk);
  if (!resolved.ok) return failed(resolved, null);
  if (resolved.stat === null) return { state: 'absent', place: null, why: 'does not exist', isDeleted: true };
  const place = placeOf(resolved.path, resolved.stat);
  const fits = kind === 'directory' ? resolved.stat.isDirectory() : resolved.stat.isFile();
  if (!fits) return { state: 'refused', place, why: `is not a ${kind === 'directory' ? 'directory' : 'regular file'}` };
  const unreadable = readFault(place.path, kind);
  return unreadable === null ? { state: 'there', place } : failed(unreadable, place);
}

/** Looks at a member of a pattern root: a real directory, never a link, that holds one of `having` (if any are named). */
export function observeMember(path: string, having: readonly string[], walk: KernelWalk): Observation {
  const seen = observeRoot(path, 'directory', walk);
  if (seen.place === null) return seen;
  if (!isItself(path, seen.place)) return { state: 'refused', place: null, why: 'is not a real directory' };
  if (seen.state !== 'there' || having.length === 0) return seen;
  return having.some((name) => exists(childOf(seen.place.path, name)))
    ? seen
    : { state: 'absent', place: seen.place, why: `holds none of ${having.join(', ')}` };
}

/** Is the last component of the path the very directory that the path leads to, and no link to it? */
function isItself(path: string, place: Place): boolean {
  try {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stat?.isDirectory() === true && identityOf(stat) === place.identity;
  } catch {
    return false;
  }
}

function failed(failure: Failure, place: Place | null): Observation {
  if (isPassing(failure)) return { state: 'absent', place, why: failure.why };
  const slow = failure.slow === undefined ? {} : { slow: failure.slow };
  return { state: 'refused', place, why: failure.why, ...slow };
}

function readFault(path: string, kind: 'directory' | 'file'): Failure | null {
  try {
    accessSync(path, kind === 'directory' ? constants.R_OK | constants.X_OK : constants.R_OK);
    return null;
  } catch (error) {
    return failureOf(error);
  }
}

/** Without following: a link is there whatever it leads to. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
