import { accessSync, constants, lstatSync } from 'node:fs';
import { childOf } from '../core/path.ts';
import type { Place } from '../core/place.ts';
import type { Observation } from './availability.ts';
import { type Failure, failureOf } from './failure.ts';
import { identityOf, placeOf } from './identity.ts';
import type { KernelWalk } from './kernel-walk.ts';
import { type Resolved, resolvePath } from './resolve.ts';

/** Errors of what is away for a moment: deleted, a device or a file server that does not answer. */
const PASSING: ReadonlySet<string | null> = new Set(['ENOENT', 'EIO', 'ESTALE', 'EAGAIN']);

/** May the failure be over in a moment, so that what was known last still counts? */
export function isPassing({ errno }: Failure): boolean {
  return PASSING.has(errno);
}

/** What is looked for at a path. */
export interface Sought {
  readonly kind: 'directory' | 'file';
  /** Of a member of a pattern root, what it must hold one of, if any are named: a real directory, never a link. null: no member. */
  readonly having: readonly string[] | null;
}

/** Looks at a declared root, links followed, or at a member: two steps at once. */
export function observeRoot(path: string, sought: Sought, walk: KernelWalk): Observation {
  return observeInside(observePlace(path, resolvePath(path, walk), sought), sought);
}

/** The first step: what lies at the path. */
export function observePlace(path: string, resolved: Resolved | Failure, { kind, having }: Sought): Observation {
  if (!resolved.ok) return failed(resolved, null);
  if (resolved.stat === null) return { state: 'absent', place: null, why: 'does not exist', isDeleted: true };
  const place = placeOf(resolved.path, resolved.stat);
  const { stat } = resolved;
  const isReal = path === place.path ? stat.isDirectory() : having === null || isItself(path, place);
  if (having !== null && !isReal) return { state: 'refused', place: null, why: 'is not a real directory' };
  const fits = kind === 'directory' ? stat.isDirectory() : stat.isFile();
  if (fits) return { state: 'there', place };
  return { state: 'refused', place, why: `is not a ${kind === 'directory' ? 'directory' : 'regular file'}` };
}

/** The second: can it be read, and does it hold what it must? */
export function observeInside(seen: Observation, { kind, having }: Sought): Observation {
  if (seen.state !== 'there') return seen;
  const { place } = seen;
  const unreadable = readFault(place.path, kind);
  if (unreadable !== null) return failed(unreadable, place);
  if (having === null || having.length === 0) return seen;
  if (having.some((name) => exists(childOf(place.path, name)))) return seen;
  return { state: 'absent', place, why: `holds none of ${having.join(', ')}` };
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
