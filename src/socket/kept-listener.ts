import type { Socket } from 'node:net';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Native } from '../disk/native.ts';
import type { Log } from '../system/log.ts';
import { checkOwnerOnly, type ListenAt, type Listener, listen } from './listen.ts';

export interface KeptListenerOptions {
  readonly at: ListenAt;
  readonly onConnection: (socket: Socket) => void;
  /** null: nobody says who connects, so the file must keep other users out. */
  readonly native: Native | null;
  readonly log: Log;
}

/** A listening socket that is made again where its file is cleaned away. */
export class KeptListener {
  readonly #options: KeptListenerOptions;
  #listener: Listener | undefined;

  constructor(options: KeptListenerOptions) {
    this.#options = options;
  }

  /** Empty before open(). */
  get address(): string {
    return this.#listener?.address ?? '';
  }

  /** Throws as listen() does. */
  async open(): Promise<void> {
    const { at, onConnection, native, log } = this.#options;
    this.#listener = await listen(at, {
      onConnection,
      onError: (error) => log('error', LOG_EVENTS.peerFault, { address: this.address, error }),
    });
    if (native === null) checkOwnerOnly(this.#listener);
    log('info', LOG_EVENTS.listening, { address: this.address });
  }

  /** Listens anew where the file has been removed or replaced; open connections stay. Throws as listen() does. */
  async keepListening(): Promise<void> {
    if (this.#listener === undefined || this.#listener.isThere()) return;
    this.#listener.close();
    await this.open();
  }

  /** Takes no more connections. */
  close(): void {
    this.#listener?.close();
  }
}
