import type { Part } from './open-parts.ts';

/** A socket that can be found missing. */
export interface KeptSocket extends Part {
  keepListening(): Promise<void>;
}

/** How often the files are looked at. */
const LOOK_MS = 2_000;

/** Looks after socket files that something may clean away: they are made again, or it is said that they cannot be. */
export class KeptSockets implements Part {
  readonly #sockets: KeptSocket[] = [];
  readonly #onLost: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #isLooking = false;

  constructor(onLost: (error: unknown) => void) {
    this.#onLost = onLost;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  add<T extends KeptSocket>(socket: T): T {
    this.#sockets.push(socket);
    return socket;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#sockets.length = 0;
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      for (const socket of this.#sockets) await socket.keepListening();
    } catch (error) {
      this.close();
      this.#onLost(error);
    } finally {
      this.#isLooking = false;
    }
  }
}
