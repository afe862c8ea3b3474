import type { Clock } from './clock.ts';
import type { MountTable } from './mounts.ts';

export interface MountWatchOptions {
  readonly mounts: MountTable;
  readonly clock: Clock;
  /** The table has changed; resolves to the milliseconds that were spent on it. */
  readonly onChange: () => Promise<number>;
  /** What this takes of the processor is at most one part of so many. */
  readonly share: number;
}

const POLL_MS = 250;

/** Asks the kernel again and again whether the mount table has changed, where that costs next to nothing. */
export class MountWatch {
  readonly #options: MountWatchOptions;
  #cancel: () => void = () => {};
  #closed = false;

  constructor(options: MountWatchOptions) {
    this.#options = options;
    if (options.mounts.isPolled) this.#pollIn(POLL_MS);
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  #pollIn(delayMs: number): void {
    if (!this.#closed) this.#cancel = this.#options.clock.after(delayMs, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    const { mounts, onChange, share } = this.#options;
    mounts.refresh();
    const spentMs = mounts.hasChanges ? await onChange() : 0;
    this.#pollIn(Math.max(POLL_MS, share * spentMs));
  }
}
