/** With fewer steps a look needs no rest. */
const FEW_STEPS = 16;
/** A step takes some 20 us: what hints make us look at again costs about a hundredth of the processor, all long looks together. */
const REST_MS_PER_STEP = 2;
const MAX_REST_MS = 60_000;

/** When what takes long to look at, as a star over many directories does, may be looked at again, however many hints come. */
export class Rests<T> {
  /** The last look at each that took many steps. */
  readonly #long = new Map<T, { readonly steps: number; readonly endMs: number }>();

  /** A look that took so many steps has ended. */
  note(item: T, steps: number, nowMs: number): void {
    if (steps > FEW_STEPS) this.#long.set(item, { steps, endMs: nowMs });
    else this.#long.delete(item);
  }

  restedMs(item: T): number {
    const { steps, endMs } = this.#long.get(item) ?? { steps: 0, endMs: 0 };
    return endMs + Math.min(MAX_REST_MS, steps * REST_MS_PER_STEP * this.#long.size);
  }

  forget(item: T): void {
    this.#long.delete(item);
  }
}
