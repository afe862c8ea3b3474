// The control socket: administration, answered by handlers that the daemon gives.

import type { Socket } from 'node:net';
import type { Native } from '../disk/native.ts';
import type { Log } from '../system/log.ts';
import { type Admission, admitOwnUser } from './admission.ts';
import { closeAll } from './close-all.ts';
import { type ControlHandlers, ControlSession } from './control-session.ts';
import type { LineLimits } from './json-lines.ts';
import { KeptListener } from './kept-listener.ts';
import type { ListenAt } from './listen.ts';

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
  readonly #listener: KeptListener;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#admission = admitOwnUser(options);
    const { at, native, log } = options;
    this.#listener = new KeptListener({ at, native, log, onConnection: (socket) => this.#connected(socket) });
  }

  get address(): string {
    return this.#listener.address;
  }

  open(): Promise<void> {
    return this.#listener.open();
  }

  /** See KeptListener. */
  keepListening(): Promise<void> {
    return this.#listener.keepListening();
  }

  /** Takes no more connections and ends those that are open; an answer that is ready is sent, for a second at most. */
  async close(): Promise<void> {
    this.#listener.close();
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
