export interface RestsOptions {
  /** With no more steps a look needs no rest. */
  readonly fewSteps: number;
  /** A hundred times what a step takes: all that rests takes about a hundredth of the processor together. */
  readonly restMsPerStep: number;
}

/** When what takes long to look at, as a star over many directories does, may be looked at again, however many hints come. */
export class Rests<T> {
  readonly #options: RestsOptions;
  /** The last look at each that took many steps. */
  readonly #long = new Map<T, { readonly steps: number; readonly endMs: number }>();

  constructor(options: RestsOptions) {
    this.#options = options;
  }

  /** A look that took so many steps has ended. */
  note(item: T, steps: number, nowMs: number): void {
    if (steps > this.#options.fewSteps) this.#long.set(item, { steps, endMs: nowMs });
    else this.#long.delete(item);
  }

  restedMs(item: T): number {
    const { steps, endMs } = this.#long.get(item) ?? { steps: 0, endMs: 0 };
    return endMs + steps * this.#options.restMsPerStep * this.#long.size;
  }

  forget(item: T): void {
    this.#long.delete(item);
  }
}
