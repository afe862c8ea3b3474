import type { Socket } from 'node:net';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Native } from '../disk/native.ts';
import type { Log } from '../system/log.ts';
import { descriptorOf } from './descriptor-of.ts';
import type { DescriptorRoom, Purpose } from './descriptor-room.ts';
import { checkOwnerOnly, type ListenAt, type Listener, listen } from './listen.ts';

export interface KeptListenerOptions {
  readonly at: ListenAt;
  readonly purpose: Purpose;
  readonly descriptors: DescriptorRoom;
  readonly onConnection: (socket: Socket) => void;
  /** The last descriptors are taken: make room. */
  readonly onShortage: () => void;
  /** null: nobody says who connects, so the file must keep other users out. */
  readonly native: Native | null;
  readonly log: Log;
}

/** A listening socket that is made again where its file is cleaned away, and does not accept where descriptors run out. */
export class KeptListener {
  readonly #options: KeptListenerOptions;
  readonly #resume = (): void => {
    this.#isPaused = false;
    this.#listener?.resume();
  };
  #listener: Listener | undefined;
  #isPaused = false;
  /** Was it short of descriptors since it was looked at last? Said once, however often it pauses meanwhile. */
  #wasShort = false;
  #isSaid = false;

  constructor(options: KeptListenerOptions) {
    this.#options = options;
  }

  /** Empty before open(). */
  get address(): string {
    return this.#listener?.address ?? '';
  }

  /** Throws as listen() does. */
  async open(): Promise<void> {
    const { at, native, log } = this.#options;
    this.#listener = await listen(at, {
      onConnection: (socket) => this.#connected(socket),
      onError: (error) => this.#short(error),
      duplicate: native?.duplicate,
    });
    if (native === null) checkOwnerOnly(this.#listener);
    log('info', LOG_EVENTS.listening, { address: this.address });
  }

  /**
   * Looks after it, to be called now and then: listens anew where the file has been removed or replaced; open connections
   * stay. Throws as listen() does.
   */
  async keepListening(): Promise<void> {
    const { descriptors, onShortage } = this.#options;
    if (this.#isPaused) onShortage();
    descriptors.freed();
    this.#recover();
    if (this.#listener === undefined || this.#listener.isThere()) return;
    this.close();
    await this.open();
  }

  /** Takes no more connections. */
  close(): void {
    this.#options.descriptors.cancel(this.#resume);
    this.#isPaused = false;
    this.#listener?.close();
  }

  #connected(socket: Socket): void {
    const { descriptors, purpose, onConnection, onShortage } = this.#options;
    const isLast = descriptors.isLast(descriptorOf(socket), purpose);
    onConnection(socket);
    if (!isLast) return;
    this.#short();
    this.#isPaused = this.#listener?.pause() ?? false;
    if (this.#isPaused) descriptors.wait(this.#resume, purpose);
    else onShortage();
  }

  #short(error?: Error): void {
    this.#wasShort = true;
    if (this.#isSaid) return;
    this.#isSaid = true;
    this.#options.log('warn', LOG_EVENTS.descriptorsShort, { address: this.address, ...(error && { error }) });
  }

  #recover(): void {
    if (this.#isSaid && !this.#wasShort && !this.#isPaused) {
      this.#isSaid = false;
      this.#options.log('info', LOG_EVENTS.descriptorsFree, { address: this.address });
    }
    this.#wasShort = false;
  }
}
