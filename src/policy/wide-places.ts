// Places that are never a root themselves, though what lies in them may be: a root there would expose everything.

import { covers, literalPattern, type PathPattern } from '../core/pattern.ts';

export interface WidePlace {
  readonly pattern: PathPattern;
  /** Goes on where "it is" stops. */
  readonly what: string;
}

/** Directories that hold homes, wherever the user's own home is. */
const HOLD_HOMES = ['/home', '/Users', '/var/home'];

/** The filesystem's root, the homes given (a home and its real place), and all that holds a home. */
export function widePlaces(homes: readonly string[]): readonly WidePlace[] {
  const own = homes.map((home) => literalPattern(home));
  const parents = [...HOLD_HOMES.map((parent) => literalPattern(parent)), ...own.flatMap(parentsOf)];
  return [
    { pattern: literalPattern('/'), what: 'the whole filesystem' },
    ...own.map((pattern) => ({ pattern, what: 'the home directory itself' })),
    ...parents.map((pattern) => ({ pattern, what: `"${pattern.text}", which holds home directories` })),
  ];
}

/** The wide place that a root's path is, or whose like its members would be; undefined if it is none. */
export function wideAt(path: PathPattern, places: readonly WidePlace[]): WidePlace | undefined {
  return places.find(({ pattern }) => isSameLength(path, pattern) && covers(path, pattern));
}

function parentsOf({ components }: PathPattern): PathPattern[] {
  return components.slice(1).map((_, i) => literalPattern(`/${components.slice(0, i + 1).join('/')}`));
}

function isSameLength(a: PathPattern, b: PathPattern): boolean {
  return a.components.length === b.components.length;
}
