/** Of which entries of a directory somebody wants to hear; null: of all that come and go. */
type Names = readonly string[] | null;

/**
 * Who wants to hear of which entries of one directory. Most directories have one subject, and there are many directories:
 * one is kept without a map. Some have ten thousand, and an event must not ask them all.
 */
export class Interests<T> {
  #first: T | null = null;
  #firstNames: Names = null;
  #others: NamedInterests<T> | null = null;

  get isEmpty(): boolean {
    return this.#first === null && (this.#others === null || this.#others.isEmpty);
  }

  /** Beside what the subject wants already. */
  add(subject: T, names: Names): void {
    if (this.#first === subject) this.#firstNames = joined(this.#firstNames, names);
    else if (this.#first === null && this.#others === null) {
      this.#first = subject;
      this.#firstNames = names;
    } else {
      this.#others ??= new NamedInterests();
      this.#others.add(subject, names);
    }
  }

  delete(subject: T): void {
    if (this.#first === subject) this.#first = null;
    else this.#others?.delete(subject);
  }

  everybody(): readonly T[] {
    return [...(this.#first === null ? [] : [this.#first]), ...(this.#others?.everybody() ?? [])];
  }

  /** `comesOrGoes`: not only what is in it has changed. */
  in(name: string, comesOrGoes: boolean): readonly T[] {
    const first = this.#first;
    const isFirst = this.#firstNames === null ? comesOrGoes : this.#firstNames.includes(name);
    return [...(first !== null && isFirst ? [first] : []), ...(this.#others?.in(name, comesOrGoes) ?? [])];
  }
}

/** Many subjects, found by name. */
class NamedInterests<T> {
  readonly #names = new Map<T, readonly string[]>();
  readonly #byName = new Map<string, readonly T[]>();
  readonly #all = new Set<T>();

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  add(subject: T, names: Names): void {
    const known = this.#names.get(subject);
    this.#names.set(subject, known === undefined ? (names ?? []) : [...known, ...(names ?? [])]);
    if (names === null) this.#all.add(subject);
    for (const name of names ?? []) {
      const others = this.#byName.get(name) ?? [];
      if (!others.includes(subject)) this.#byName.set(name, others.length === 0 ? [subject] : [...others, subject]);
    }
  }

  delete(subject: T): void {
    for (const name of this.#names.get(subject) ?? []) this.#removeFrom(name, subject);
    this.#names.delete(subject);
    this.#all.delete(subject);
  }

  everybody(): Iterable<T> {
    return this.#names.keys();
  }

  in(name: string, comesOrGoes: boolean): readonly T[] {
    const named = this.#byName.get(name) ?? [];
    return comesOrGoes ? [...named, ...this.#all] : named;
  }

  #removeFrom(name: string, subject: T): void {
    const others = (this.#byName.get(name) ?? []).filter((other) => other !== subject);
    if (others.length === 0) this.#byName.delete(name);
    else this.#byName.set(name, others);
  }
}

function joined(a: Names, b: Names): Names {
  return a === null || b === null ? null : [...new Set([...a, ...b])];
}
