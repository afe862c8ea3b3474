/** Entries that are looked at one by one. */
const MAX_HEARD = 1_000;

/** Entries of directories that have come or gone since they were last looked at. */
export class HeardEntries {
  readonly #paths = new Set<string>();

  /** False: there are so many that a look at all is less, and can wait until it has rested. */
  add(path: string): boolean {
    if (this.#paths.size === MAX_HEARD && !this.#paths.has(path)) {
      this.#paths.clear();
      return false;
    }
    this.#paths.add(path);
    return true;
  }

  take(): readonly string[] {
    const paths = [...this.#paths];
    this.#paths.clear();
    return paths;
  }
}
