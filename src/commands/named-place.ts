// The directory that `rootsd allow` and `rootsd revoke` are given, and the roots that are there.

import { resolve } from 'node:path';
import { RootsError } from '../core/errors.ts';
import { covers, literalPattern, patternPath } from '../core/pattern.ts';
import type { RootFacts } from '../core/place.ts';
import { resolvePath } from '../disk/resolve.ts';
import type { Io } from './io.ts';
import type { Machine } from './machine.ts';

export interface NamedPlace {
  /** Canonical. */
  readonly path: string;
  /** What is there now. */
  readonly is: 'directory' | 'other' | 'nothing';
}

/** The real place that a path names. Throws a RootsError USAGE for what cannot be resolved. */
export function readPlace(path: string, { home }: Machine, io: Io): NamedPlace {
  const absolute = path === '~' || path.startsWith('~/') ? `${home}${path.slice(1)}` : resolve(io.cwd(), path);
  const resolved = resolvePath(absolute);
  if (!resolved.ok) throw new RootsError('USAGE', { what: `Cannot use "${path}": it ${resolved.why}` });
  if (resolved.stat === null) return { path: resolved.path, is: 'nothing' };
  return { path: resolved.path, is: resolved.stat.isDirectory() ? 'directory' : 'other' };
}

/** Is the root this very place? One that is gone is known by its name. */
export function isAt(root: RootFacts, place: string): boolean {
  return (root.place?.path ?? patternPath(root.written)) === place;
}

/** Is the place the root or inside it? */
export function isAround(root: RootFacts, place: string): boolean {
  const outer = root.place === null ? root.written : literalPattern(root.place.path);
  return covers(outer, literalPattern(place));
}
