import { descriptorLimit, nextDescriptor } from '../disk/descriptors.ts';

/** Descriptors that sessions leave free, for policies, state and administration. */
const RESERVE = 64;

/** What a listener accepts connections for: administration gets in where there is no room for peers any more. */
export type Purpose = 'peers' | 'control';

/**
 * Keeps descriptors from running out. The kernel gives each new one the lowest free number, so a high number says that all
 * below are taken. Where none is left, libuv accepts and closes whatever waits: those connections would be lost. A listener
 * that stops accepting in time loses none, they wait in the kernel.
 */
export class DescriptorRoom {
  readonly #limit: number;
  readonly #reserve: number;
  readonly #waiting = new Map<() => void, Purpose>();

  constructor(limit = descriptorLimit()) {
    this.#limit = limit;
    this.#reserve = Math.min(RESERVE, limit / 4);
  }

  /** Has a connection got one of the last descriptors that there are for its purpose? */
  isLast(fd: number, purpose: Purpose): boolean {
    return fd >= this.#limit - (purpose === 'peers' ? this.#reserve : this.#reserve / 2);
  }

  /** Calls back, once, when there may be room again. */
  wait(resume: () => void, purpose: Purpose): void {
    this.#waiting.set(resume, purpose);
  }

  cancel(resume: () => void): void {
    this.#waiting.delete(resume);
  }

  /** A connection has ended, or time has passed. */
  freed(): void {
    if (this.#waiting.size === 0) return;
    const next = nextDescriptor();
    for (const [resume, purpose] of this.#waiting) {
      if (this.isLast(next, purpose)) continue;
      this.#waiting.delete(resume);
      resume();
    }
  }
}
