// Reloads are asked for by whoever likes, as often as they like: by saves, signals and administration. However many ask, one
// reads and one more waits, for the files may have changed since the one that reads has begun.

export interface ReloadSteps<T> {
  /** Reads all anew; with `acceptEmpty` what is gone is meant to be gone. */
  read(acceptEmpty: boolean): Promise<T>;
  /** Waits until what was read is in force. The next one may read meanwhile. */
  takeUp(reading: T): Promise<void>;
  /** Before each. */
  begin(): void;
  /** Where none is under way any more, be it that the last one failed. */
  end(): void;
}

interface Waiting<T> {
  acceptEmpty: boolean;
  readonly done: Promise<T>;
}

/** Runs reloads one after the other. */
export class Reloads<T> {
  readonly #steps: ReloadSteps<T>;
  /** The last reading, under way or over. */
  #reading: Promise<unknown> = Promise.resolve();
  /** Has not begun. */
  #waiting: Waiting<T> | null = null;
  #underWay = 0;

  constructor(steps: ReloadSteps<T>) {
    this.#steps = steps;
  }

  /** Resolves when what the files say from now on is in force, or what could be read of it. */
  ask(acceptEmpty: boolean): Promise<T> {
    this.#waiting ??= this.#queue();
    this.#waiting.acceptEmpty ||= acceptEmpty;
    return this.#waiting.done;
  }

  #queue(): Waiting<T> {
    const reading = this.#reading.then(() => this.#begin());
    this.#reading = reading.catch(() => undefined);
    const done = reading
      .then(async (read) => {
        await this.#steps.takeUp(read);
        return read;
      })
      .finally(() => this.#end());
    return { acceptEmpty: false, done };
  }

  #begin(): Promise<T> {
    const acceptEmpty = this.#waiting?.acceptEmpty === true;
    this.#waiting = null;
    this.#underWay += 1;
    this.#steps.begin();
    return this.#steps.read(acceptEmpty);
  }

  #end(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#steps.end();
  }
}
