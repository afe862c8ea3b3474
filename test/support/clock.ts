import { statSync, writeFileSync } from 'node:fs';
import type { Clock } from '../../src/disk/clock.ts';

/** Time that passes only when a test says so. */
export class FakeClock implements Clock {
  #nowMs = 0;
  /** How far it is ahead of what stamps files. */
  aheadMs = 0;
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void }>();

  now(): number {
    return this.#nowMs;
  }

  epochMs(): number {
    return Date.now() + this.aheadMs;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Lets time pass, timer by timer, and what each sets off. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (let next = this.#nextUntil(endMs); next !== undefined; next = this.#nextUntil(endMs)) {
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.run();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#nowMs = endMs;
  }

  /** Lets time pass and nothing else happen: what comes from outside comes later. */
  jump(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (let next = this.#nextUntil(endMs); next !== undefined; next = this.#nextUntil(endMs)) {
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.run();
    }
    this.#nowMs = endMs;
  }

  #nextUntil(endMs: number) {
    return [...this.#timers].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
  }
}

/** Files are stamped in steps of some milliseconds: what is done after this has another time than what was done before. */
export function letTick(directory: string): void {
  const stamp = () => {
    writeFileSync(`${directory}/tick`, '');
    return statSync(`${directory}/tick`, { bigint: true }).ctimeNs;
  };
  for (const before = stamp(); stamp() === before; );
}
