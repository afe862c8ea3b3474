/** Something that happens at most once, and can be waited for. */
export class Latch {
  readonly reached: Promise<void>;
  #resolve: () => void = () => undefined;
  #isSet = false;

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get isSet(): boolean {
    return this.#isSet;
  }

  set(): void {
    this.#isSet = true;
    this.#resolve();
  }
}
