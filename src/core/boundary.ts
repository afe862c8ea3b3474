// Containment of real paths: by component, and as fast among ten thousand directories as in one. All of it assumes that
// links are resolved already; a text that is not a RealPath proves nothing here.

import type { RealPath } from './path.ts';

/** Is `inner` the place `outer` or below it? */
export function isInside(inner: RealPath, outer: RealPath): boolean {
  return firstUpwards(inner, (place) => place === outer) !== undefined;
}

/** A set of real directories (or files), to ask which of them holds a path. */
export interface Enclosures {
  /** The deepest one that is the path or lies above it; takes as long as the path is deep, however many there are. */
  enclosing(path: RealPath): RealPath | undefined;
}

export function createBoundary(roots: Iterable<RealPath>): Enclosures {
  const known = new Set(roots);
  return {
    enclosing(path) {
      return firstUpwards(path, (place) => known.has(place));
    },
  };
}

/** Something enforced at a real place, of which parts may be cut out. */
export interface Bounded {
  readonly path: RealPath;
  /** Places below it, in every spelling that is known: as they are written, links resolved. */
  readonly carved: readonly string[];
}

/** Is the place one that is cut out, or below one? */
export function isCarved(place: RealPath, carved: readonly string[]): boolean {
  return carved.some((cut) => isInside(place, cut as RealPath));
}

/** What is cut out strictly below a place. */
export function carvedInside(place: RealPath, carved: readonly string[]): readonly string[] {
  return carved.filter((cut) => cut !== place && isInside(cut as RealPath, place));
}

/**
 * The part of a boundary that lies within `limits` (the roots of a host). Of each pair the inner place is kept, under the
 * deepest entry that holds it: that one knows best what may be done there.
 *
 * INVARIANT: every place of the result is a place of the boundary or below one, and not cut out of it: never wider.
 */
export function narrowBoundary<T extends Bounded>(entries: readonly T[], limits: Iterable<RealPath>): T[] {
  const wanted = [...new Set(limits)];
  const limit = createBoundary(wanted);
  const boundary = createBoundary(entries.map((entry) => entry.path));
  const homes = wanted.map((place) => ({ place, entry: boundary.enclosing(place) }));
  return entries.flatMap((entry) => {
    if (limit.enclosing(entry.path) !== undefined) return [entry];
    return homes.filter((home) => home.entry === entry.path).flatMap(({ place }) => withinEntry(entry, place));
  });
}

function withinEntry<T extends Bounded>(entry: T, place: RealPath): T[] {
  if (isCarved(place, entry.carved)) return [];
  return [{ ...entry, path: place, carved: carvedInside(place, entry.carved) }];
}

/** The first of the path and the places above it, the deepest first, that is looked for. No generator: every check walks. */
function firstUpwards(path: RealPath, isWanted: (place: RealPath) => boolean): RealPath | undefined {
  if (isWanted(path)) return path;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const place = path.slice(0, end) as RealPath;
    if (isWanted(place)) return place;
  }
  const top = '/' as RealPath;
  return isWanted(top) ? top : undefined;
}
