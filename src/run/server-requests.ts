/**
 * Requests of the server that the host has not answered. After a restart the new process may use the same ids: answers
 * to the old one must not reach it.
 */
export class ServerRequests {
  readonly #open = new Set<string>();
  readonly #stale = new Set<string>();

  get hasStale(): boolean {
    return this.#stale.size > 0;
  }

  isStale(id: string): boolean {
    return this.#stale.has(id);
  }

  add(id: string): void {
    this.#open.add(id);
  }

  settle(id: string | null): void {
    if (id !== null) this.#open.delete(id);
  }

  /** Takes note of an answer; true: it is for a process that is gone. */
  takeStale(id: string | null): boolean {
    if (id !== null && this.#stale.delete(id)) return true;
    this.settle(id);
    return false;
  }

  /** The process that asked is gone. */
  abandon(): void {
    for (const id of this.#open) this.#stale.add(id);
    this.#open.clear();
  }
}
