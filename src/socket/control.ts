// The control socket: administration, answered by handlers that the daemon gives.

import type { Socket } from 'node:net';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Native } from '../disk/native.ts';
import type { Log } from '../system/log.ts';
import { type Admission, admitOwnUser } from './admission.ts';
import { closeAll } from './close-all.ts';
import { type ControlHandlers, ControlSession } from './control-session.ts';
import type { LineLimits } from './json-lines.ts';
import { checkOwnerOnly, type ListenAt, type Listener, listen } from './listen.ts';

export interface ControlOptions {
  readonly at: ListenAt;
  readonly limits: LineLimits;
  /** By method name. */
  readonly handlers: ControlHandlers;
  readonly native: Native | null;
  readonly log: Log;
}

/** Connections at once: people and scripts, not servers. */
const MAX_CONNECTIONS = 256;

/** Starts to serve administration. Throws as listen() does. */
export async function openControl(options: ControlOptions): Promise<Control> {
  const control = new Control(options);
  await control.open();
  return control;
}

export class Control implements AsyncDisposable {
  readonly #options: ControlOptions;
  readonly #admission: Admission;
  readonly #sessions = new Set<ControlSession>();
  #listener: Listener | undefined;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#admission = admitOwnUser(options);
  }

  get address(): string {
    return this.#listener?.address ?? '';
  }

  async open(): Promise<void> {
    const { at, log, native } = this.#options;
    this.#listener = await listen(at, {
      onConnection: (socket) => this.#connected(socket),
      onError: (error) => log('error', LOG_EVENTS.peerFault, { socket: 'control', error }),
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

  /** Takes no more connections and ends those that are open; an answer that is ready is sent, for a second at most. */
  async close(): Promise<void> {
    this.#listener?.close();
    await closeAll([...this.#sessions]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #connected(socket: Socket): void {
    const facts = this.#admission.observe(socket);
    const { limits, handlers, log } = this.#options;
    const session = new ControlSession(socket, {
      limits,
      handlers,
      log,
      facts,
      refusal: this.#admission.refusal(facts),
      onClose: () => this.#sessions.delete(session),
    });
    if (this.#sessions.size >= MAX_CONNECTIONS) session.destroy();
    this.#sessions.add(session);
  }
}
