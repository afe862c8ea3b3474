// What a path of a policy really names, where that is not what is written: a link in its spelling, a link among the
// matches of a star. A denied link denies its target.

import { childOf } from '../core/path.ts';
import { ANY, type Component, componentsOf, type PathPattern } from '../core/pattern.ts';
import type { KernelWalk } from './kernel-walk.ts';
import { listDirectory } from './list-directory.ts';
import type { Mount } from './mount.ts';
import { isPassing } from './observe-root.ts';
import { resolvePath } from './resolve.ts';

/** Entries that are looked at for the stars of one pattern. */
export const MAX_ENTRIES = 10_000;

export interface Forms {
  /** By the place, links in its last component not followed, that leads elsewhere than is written. */
  readonly forms: ReadonlyMap<string, PathPattern>;
  /** Directories whose entries a star matches, and what goes on behind that star. */
  readonly listed: ReadonlyMap<string, readonly Component[]>;
  /** Something could not be looked at for now: what was known before still counts. */
  readonly isPartial: boolean;
  /** A mount on the way that was not entered, since that may hang: what the pattern names there is not known. */
  readonly slow: Mount | null;
  /** There are more than MAX_ENTRIES: links among the rest are not known. */
  readonly isCutOff: boolean;
}

/** Finds the real places that a pattern names where they differ from what is written, a step for each entry. */
export function* resolvePattern(pattern: PathPattern, walk: KernelWalk): Generator<void, Forms> {
  const search = new Search(pattern.text, walk);
  yield* search.descend('/', pattern.components);
  return search.result();
}

/** As resolvePattern(), for one entry of a directory that a star lists: `rest` is what goes on behind the star. */
export function* resolveEntry(entry: string, rest: readonly Component[], how: EntrySearch): Generator<void, Forms> {
  const search = new Search(how.pattern.text, how.walk);
  yield* search.descend(entry, rest);
  return search.result();
}

export interface EntrySearch {
  readonly pattern: PathPattern;
  readonly walk: KernelWalk;
}

class Search {
  readonly #text: string;
  readonly #walk: KernelWalk;
  readonly #forms = new Map<string, PathPattern>();
  readonly #listed = new Map<string, readonly Component[]>();
  #entries = 0;
  #isPartial = false;
  #slow: Mount | null = null;

  constructor(text: string, walk: KernelWalk) {
    this.#text = text;
    this.#walk = walk;
  }

  result(): Forms {
    return {
      forms: this.#forms,
      listed: this.#listed,
      isPartial: this.#isPartial,
      slow: this.#slow,
      isCutOff: this.#entries > MAX_ENTRIES,
    };
  }

  /** `above` is real but for its last component, which may be a link. */
  *descend(above: string, rest: readonly Component[]): Generator<void> {
    const star = rest.indexOf(ANY);
    const names = rest.slice(0, star === -1 ? rest.length : star).filter((part) => part !== ANY);
    const written = names.reduce(childOf, above);
    const resolved = resolvePath(written, this.#walk);
    if (!resolved.ok) {
      this.#slow ??= resolved.slow ?? null;
      this.#isPartial ||= isPassing(resolved) && resolved.errno !== 'ENOENT';
      return;
    }
    const below = star === -1 ? [] : rest.slice(star);
    if (resolved.path !== written) this.#add(above, [...componentsOf(resolved.path), ...below]);
    if (star !== -1 && resolved.stat?.isDirectory()) yield* this.#list(resolved.path, rest.slice(star + 1));
  }

  *#list(directory: string, rest: readonly Component[]): Generator<void> {
    this.#listed.set(directory, rest);
    for (const { name, isLink, isDirectory } of listDirectory(directory)) {
      yield;
      this.#entries += 1;
      if (this.#entries > MAX_ENTRIES) return;
      // What a last star matches is told by its name, unless it is a link.
      if (name !== null && (isLink || (isDirectory && rest.length > 0)))
        yield* this.descend(childOf(directory, name), rest);
    }
  }

  #add(place: string, components: readonly Component[]): void {
    this.#forms.set(place, { text: this.#text, components });
  }
}
