// The only maker of a RealPath.
//
// What this cannot promise: the disk may change after the answer. And without openat2 a process that has built a mount
// namespace for the purpose can make a magic link lead to a file that claims the very name that was asked for; such a
// process has our uid, and could as well have copied the file.

import type { BigIntStats } from 'node:fs';
import { checkPathText, childOf, type RealPath } from '../core/path.ts';
import { componentsOf } from '../core/pattern.ts';
import { errnoFailure, type Failure, failure } from './failure.ts';
import { type KernelWalk, kernelWalk, type Located } from './kernel-walk.ts';
import { walkLinks } from './link-walk.ts';

export interface Resolved {
  readonly ok: true;
  /** Where the path leads; of what does not exist, where it would be made. */
  readonly path: RealPath;
  /** null: does not exist. */
  readonly stat: BigIntStats | null;
}

/** The way changed between two looks. */
type Moved = 'moved';
const MAX_TRIES = 5;

/**
 * Resolves an absolute path that somebody asked for, by one kernel walk: links followed, `..` physical. What does not
 * exist is resolved from the deepest place that does, through a dangling link to where a create would land. A loop, a
 * magic link, a name that is not UTF-8 and every errno but ENOENT is a failure.
 */
export function resolvePath(requestedPath: string, walk: KernelWalk = kernelWalk()): Resolved | Failure {
  const found = resolveBy(walk.reach, requestedPath, walk);
  if (!found.ok) return found;
  return { ok: true, path: found.path, stat: found.there?.stat ?? null };
}

export interface ResolvedPlace {
  readonly ok: true;
  readonly path: RealPath;
  /** false: this is where it would be made. */
  readonly isThere: boolean;
}

/** As resolvePath(), for who needs nothing of what lies there. */
export function resolvePlace(requestedPath: string, walk: KernelWalk = kernelWalk()): ResolvedPlace | Failure {
  const found = resolveBy(walk.locate, requestedPath, walk);
  return found.ok ? { ok: true, path: found.path, isThere: found.there !== null } : found;
}

interface Found<T> {
  readonly ok: true;
  readonly path: RealPath;
  /** null: does not exist. */
  readonly there: T | null;
}

type Look<T> = (path: string) => T | Failure;

function resolveBy<T extends Located>(look: Look<T>, requestedPath: string, walk: KernelWalk): Found<T> | Failure {
  const fault = checkPathText(requestedPath);
  if (fault !== null) return failure(fault);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const result = resolveOnce(look, requestedPath, walk);
    if (result !== 'moved') return result;
  }
  return failure('changes faster than it can be looked at', 'EAGAIN');
}

function resolveOnce<T extends Located>(
  look: Look<T>,
  requestedPath: string,
  walk: KernelWalk,
): Found<T> | Failure | Moved {
  const there = look(requestedPath);
  if (!there.ok) return there.errno === 'ENOENT' ? resolveMissing(requestedPath, walk) : there;
  const { path } = there;
  if (!walk.refusesMagicLinks && path !== requestedPath && path !== `/${componentsOf(requestedPath).join('/')}`) {
    const links = walkLinks(requestedPath);
    if (!links.ok) return links;
    if (links.missing.length > 0) return 'moved';
  }
  return { ok: true, path: path as RealPath, there };
}

function resolveMissing(requestedPath: string, walk: KernelWalk): Found<never> | Failure | Moved {
  const way = walkLinks(requestedPath);
  if (!way.ok) return way;
  if (way.missing.length === 0) return 'moved';
  if (way.missing.includes('..')) return failure('has a ".." behind a name that does not exist', 'ENOENT');
  const ancestor = walk.reach(way.reached);
  if (!ancestor.ok) return ancestor.errno === 'ENOENT' ? 'moved' : ancestor;
  if (!ancestor.stat.isDirectory()) return errnoFailure('ENOTDIR');
  const path = way.missing.reduce(childOf, ancestor.path);
  const fault = checkPathText(path);
  return fault === null ? { ok: true, path: path as RealPath, there: null } : failure(fault, 'ENAMETOOLONG');
}
