/** What waits, by mount: of one mount in order, and the mounts in turn, so that none waits for all of another. */
export class MountQueues<E extends { readonly mount: string }> {
  /** Who is next comes first. Sets: ten thousand may be forgotten at once. */
  readonly #queues = new Map<string, Set<E>>();

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  add(entry: E): void {
    const queue = this.#queues.get(entry.mount);
    if (queue === undefined) this.#queues.set(entry.mount, new Set([entry]));
    else queue.add(entry);
  }

  delete(entry: E): void {
    const queue = this.#queues.get(entry.mount);
    if (queue?.delete(entry) === true && queue.size === 0) this.#queues.delete(entry.mount);
  }

  /** Is there anything for a mount that is not among these? */
  hasBeside(mounts: ReadonlySet<string>): boolean {
    return [...this.#queues.keys()].some((mount) => !mounts.has(mount));
  }

  /** Takes the next one, of none of these mounts. */
  takeBeside(mounts: ReadonlySet<string>): E | null {
    for (const [mount, queue] of this.#queues) {
      const [entry] = queue;
      if (entry === undefined || mounts.has(mount)) continue;
      this.#queues.delete(mount);
      queue.delete(entry);
      if (queue.size > 0) this.#queues.set(mount, queue);
      return entry;
    }
    return null;
  }

  /** Takes all of a mount. */
  takeAll(mount: string): readonly E[] {
    const queue = this.#queues.get(mount) ?? [];
    this.#queues.delete(mount);
    return [...queue];
  }

  clear(): void {
    this.#queues.clear();
  }
}
