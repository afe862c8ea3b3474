// Patterns found by path: which of many could cover a place or lie inside it, without looking at all of them. What comes
// back is every candidate and a few too many; the caller tests each (pattern.ts).

import { ANY, type Component, type PathPattern } from './pattern.ts';

/** A place in the tree that the paths of all patterns make. */
interface Branch<T> {
  readonly values: T[];
  /** null: nothing lies below. */
  below: Map<Component, Branch<T>> | null;
}

export class PlaceIndex<T> {
  readonly #tree: Branch<T> = { values: [], below: null };
  /** What has a star can be anywhere. */
  readonly #starred: T[] = [];
  readonly #all: T[] = [];

  add(value: T, forms: readonly PathPattern[]): void {
    this.#all.push(value);
    for (const { components } of forms) {
      if (components.includes(ANY)) this.#starred.push(value);
      else branchAt(this.#tree, components).values.push(value);
    }
  }

  /** Values of which a form may cover one of these places. */
  covering(places: readonly PathPattern[]): readonly T[] {
    const found = new Set(this.#starred);
    for (const { components } of places) {
      let branch: Branch<T> | undefined = this.#tree;
      for (const value of branch.values) found.add(value);
      for (const component of components) {
        // Nothing in the tree is named by a star: of a place that has one only what is above it is known.
        branch = branch.below?.get(component);
        if (branch === undefined) break;
        for (const value of branch.values) found.add(value);
      }
    }
    return [...found];
  }

  /** Values of which a form may lie below one of these places. */
  inside(places: readonly PathPattern[]): readonly T[] {
    if (places.some(({ components }) => components.includes(ANY))) return this.#all;
    const found = new Set(this.#starred);
    for (const { components } of places) {
      let branch: Branch<T> | undefined = this.#tree;
      for (const component of components) branch = branch?.below?.get(component);
      const open = branch === undefined ? [] : [branch];
      for (const { below } of open) {
        for (const one of below?.values() ?? []) {
          for (const value of one.values) found.add(value);
          open.push(one);
        }
      }
    }
    return [...found];
  }
}

/** The branch of a place without a star, made where there is none. */
function branchAt<T>(tree: Branch<T>, components: readonly Component[]): Branch<T> {
  let branch = tree;
  for (const component of components) {
    branch.below ??= new Map();
    let next = branch.below.get(component);
    if (next === undefined) {
      next = { values: [], below: null };
      branch.below.set(component, next);
    }
    branch = next;
  }
  return branch;
}
