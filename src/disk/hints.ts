// Where the kernel could tell us that a path has come to mean something else: its own directory, the directory of every
// link in its spelling, and for what does not exist the deepest directory that does. Ancestors that are moved or replaced
// are not among these; the sweep sees them.

import { childOf, nameOf, parentOf } from '../core/path.ts';
import type { Place } from '../core/place.ts';
import { walkLinks } from './link-walk.ts';

/** A directory whose events concern somebody. */
export interface Hint {
  readonly directory: string;
  /** Entries that matter; null: all that come, go or are renamed. */
  readonly names: readonly string[] | null;
  /** Which directory of that name is meant, where it matters: another one needs another watch. */
  readonly identity?: string;
}

/**
 * Hints for a path as written; null where the way cannot be walked, so that the hints so far are the best there are.
 * `mayTouch`: what may be looked at; on a mount that may hang the kernel's events are not relied on either.
 */
export function spellingHints(path: string, mayTouch?: (entry: string) => boolean): readonly Hint[] | null {
  const way = walkLinks(path, mayTouch);
  if (!way.ok) return null;
  const links = way.links.map(({ directory, name }): Hint => ({ directory, names: [name] }));
  if (way.isCut) return links;
  const [missing] = way.missing;
  if (missing !== undefined) return [...links, { directory: way.reached, names: [missing] }];
  return [...links, entryHint(way.reached)];
}

/** Hints for a directory that is there, of which some entries matter. `path`: how it is written. */
export function directoryHints(path: string, place: Place, names: readonly string[] | null): readonly Hint[] {
  const itself: Hint = { directory: place.path, names, identity: place.identity };
  // Not spread into a list: that has room for sixteen more, ten thousand times.
  return path === place.path ? [entryHint(path), itself] : [...(spellingHints(path) ?? []), itself];
}

/** Which of these mount points has to do with the hint: one at or above its directory, or at an entry that matters. */
export function mountedOver({ directory, names }: Hint, points: ReadonlySet<string>): string | undefined {
  for (let above = directory; ; above = parentOf(above)) {
    if (points.has(above)) return above;
    if (above === '/') break;
  }
  if (names === null) return [...points].find((point) => parentOf(point) === directory);
  return names.map((name) => childOf(directory, name)).find((entry) => points.has(entry));
}

/** Is this entry itself on the way, as a link is? Then it may lead elsewhere now. */
export function isOnTheWay(hints: readonly Hint[], directory: string, entry: string): boolean {
  return hints.some((hint) => hint.directory === directory && hint.names?.includes(entry) === true);
}

export function sameHints(a: readonly Hint[], b: readonly Hint[]): boolean {
  return a.length === b.length && a.every((hint, i) => sameHint(hint, b[i]));
}

function sameHint(a: Hint, b: Hint | undefined): boolean {
  return a.directory === b?.directory && a.identity === b.identity && a.names?.join('/') === b.names?.join('/');
}

function entryHint(path: string): Hint {
  return { directory: parentOf(path), names: [nameOf(path)] };
}
