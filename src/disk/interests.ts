/** Who wants to hear of which entries of one directory; null: of all that come and go. */
type Names = readonly string[] | null;

/** Most directories have one subject, and there are many directories: one is kept without a map. */
export class Interests<T> {
  #first: { readonly subject: T; readonly names: Names } | null = null;
  #others: Map<T, Names> | null = null;

  get isEmpty(): boolean {
    return this.#first === null && (this.#others === null || this.#others.size === 0);
  }

  /** Beside what the subject wants already. */
  add(subject: T, names: Names): void {
    if (this.#first === null && !this.#others?.has(subject)) this.#first = { subject, names };
    else if (this.#first?.subject === subject) this.#first = { subject, names: joined(this.#first.names, names) };
    else {
      this.#others ??= new Map();
      const known = this.#others.get(subject);
      this.#others.set(subject, known === undefined ? names : joined(known, names));
    }
  }

  delete(subject: T): void {
    if (this.#first?.subject === subject) this.#first = null;
    else this.#others?.delete(subject);
  }

  *[Symbol.iterator](): Generator<readonly [subject: T, names: Names]> {
    if (this.#first !== null) yield [this.#first.subject, this.#first.names];
    if (this.#others !== null) yield* this.#others;
  }
}

function joined(a: Names, b: Names): Names {
  return a === null || b === null ? null : [...new Set([...a, ...b])];
}
