/** Objects of somebody else, in order, for as long as that one keeps them. */
export class WeakList<T extends object> {
  #refs: readonly WeakRef<T>[] = [];

  add(one: T): void {
    this.#refs = [...this.#refs.filter((ref) => ref.deref() !== undefined), new WeakRef(one)];
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const ref of this.#refs) {
      const one = ref.deref();
      if (one !== undefined) yield one;
    }
  }
}
