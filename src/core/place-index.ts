// Patterns found by path: which of many could cover a place or lie inside it, without looking at all of them. What comes
// back is every candidate and a few too many; the caller tests each (pattern.ts).

import { ANY, type PathPattern } from './pattern.ts';

export class PlaceIndex<T> {
  /** By its own path, and by every path above it. */
  readonly #at = new Map<string, T[]>();
  readonly #below = new Map<string, T[]>();
  /** What has a star can be anywhere. */
  readonly #starred: T[] = [];
  readonly #all: T[] = [];

  constructor(entries: Iterable<{ readonly value: T; readonly forms: readonly PathPattern[] }>) {
    for (const { value, forms } of entries) {
      this.#all.push(value);
      for (const form of forms) this.#add(value, form);
    }
  }

  /** Values of which a form may cover one of these places. */
  covering(places: readonly PathPattern[]): readonly T[] {
    const found = new Set(this.#starred);
    for (const place of places) {
      for (const path of pathsDownTo(place)) for (const value of this.#at.get(path) ?? []) found.add(value);
    }
    return [...found];
  }

  /** Values of which a form may lie below one of these places. */
  inside(places: readonly PathPattern[]): readonly T[] {
    if (places.some(({ components }) => components.includes(ANY))) return this.#all;
    const found = new Set(this.#starred);
    for (const place of places) {
      for (const value of this.#below.get(pathsDownTo(place).at(-1) ?? '') ?? []) found.add(value);
    }
    return [...found];
  }

  #add(value: T, form: PathPattern): void {
    if (form.components.includes(ANY)) {
      this.#starred.push(value);
      return;
    }
    const paths = pathsDownTo(form);
    append(this.#at, paths.at(-1) ?? '', value);
    for (const above of paths.slice(0, -1)) append(this.#below, above, value);
  }
}

/** The path of each place on the way down, the root's own as an empty text; up to the first star. */
function pathsDownTo({ components }: PathPattern): string[] {
  const paths = [''];
  let path = '';
  for (const component of components) {
    if (component === ANY) break;
    path += `/${component}`;
    paths.push(path);
  }
  return paths;
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
