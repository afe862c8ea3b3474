import { RPC, type RpcError } from '../core/protocol.ts';

const MAX_HELD = 64;
const MAX_HELD_BYTES = 1024 * 1024;

/** To a server that asks too much while a person is asked something else. */
export const PERSON_IS_BUSY: RpcError = {
  code: RPC.internal,
  message: 'The person is being asked something else: too many questions wait',
};

interface Held {
  readonly bytes: number;
  readonly goOn: () => void;
}

/** Questions of the server to the person at the host: while one of ours is open they wait, so that nobody mixes them up. */
export class HeldQuestions {
  /** By what they are called, the oldest first. */
  readonly #held = new Map<string, Held>();
  #bytes = 0;

  /** `goOn` is called when it may be asked; false: there are too many. */
  hold(name: string, bytes: number, goOn: () => void): boolean {
    this.cancel(name);
    if (this.#held.size === MAX_HELD || this.#bytes + bytes > MAX_HELD_BYTES) return false;
    this.#held.set(name, { bytes, goOn });
    this.#bytes += bytes;
    return true;
  }

  /** It is given up; false: it is not held. */
  cancel(name: string): boolean {
    this.#bytes -= this.#held.get(name)?.bytes ?? 0;
    return this.#held.delete(name);
  }

  /** They go on, in the order in which they came. */
  release(): void {
    const held = [...this.#held.values()];
    this.forget();
    for (const { goOn } of held) goOn();
  }

  /** The process that asks is gone. */
  forget(): void {
    this.#held.clear();
    this.#bytes = 0;
  }
}
