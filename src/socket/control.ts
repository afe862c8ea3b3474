// The control socket: administration, answered by handlers that the daemon gives.

import type { Socket } from 'node:net';
import { RootsError } from '../core/errors.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Native } from '../disk/native.ts';
import type { Log } from '../system/log.ts';
import { type Admission, admitOwnUser, limitsOfRefused } from './admission.ts';
import type { Capacity } from './capacity.ts';
import { closeAll } from './close-all.ts';
import { type ControlHandlers, ControlSession } from './control-session.ts';
import type { LineLimits } from './json-lines.ts';
import { KeptListener } from './kept-listener.ts';
import type { ListenAt } from './listen.ts';
import { RefusedLog } from './refused-log.ts';

export interface ControlOptions {
  readonly at: ListenAt;
  readonly limits: LineLimits;
  /** Shared with the sockets of peers. */
  readonly capacity: Capacity;
  /** By method name. */
  readonly handlers: ControlHandlers;
  readonly native: Native | null;
  readonly log: Log;
}

/**
 * Connections at once: people and scripts, not servers. Of more the oldest goes that waits for no answer; where all of them
 * wait, the new one is refused.
 */
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
  /** All that are open. */
  readonly #sessions = new Set<ControlSession>();
  /** Those of them that are not refused. */
  readonly #served = new Set<ControlSession>();
  readonly #listener: KeptListener;
  readonly #refusedLog: RefusedLog;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#admission = admitOwnUser(options);
    const { at, native, log, capacity } = options;
    this.#refusedLog = new RefusedLog({ log, event: LOG_EVENTS.peerFault });
    this.#listener = new KeptListener({
      at,
      purpose: 'control',
      descriptors: capacity.descriptors,
      native,
      log,
      onConnection: (socket) => this.#connected(socket),
      onShortage: () => void this.#endIdle(),
    });
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
    this.#refusedLog.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #connected(socket: Socket): void {
    const facts = this.#admission.observe(socket);
    const { limits, capacity, handlers, log } = this.#options;
    const notAdmitted = this.#admission.refusal(facts);
    const refusal = notAdmitted ?? this.#makeRoom();
    const session = new ControlSession(socket, {
      limits: refusal === null ? limits : limitsOfRefused(limits),
      held: capacity.held,
      handlers,
      log: notAdmitted === null ? log : this.#refusedLog.of(facts.uid),
      facts,
      refusal,
      onClose: () => this.#closed(session),
    });
    if (refusal === null) this.#served.add(session);
    else capacity.sessions.enterRefused(session);
    this.#sessions.add(session);
  }

  #closed(session: ControlSession): void {
    const { sessions, descriptors } = this.#options.capacity;
    this.#sessions.delete(session);
    this.#served.delete(session);
    sessions.leaveRefused(session);
    descriptors.freed();
  }

  /** Why there is no room for one more, or null. */
  #makeRoom(): RootsError | null {
    if (this.#served.size < MAX_CONNECTIONS || this.#endIdle()) return null;
    return new RootsError('CONTROL_FULL', { limit: MAX_CONNECTIONS });
  }

  /** Whoever connects and asks nothing must not keep others out. Is there one? */
  #endIdle(): boolean {
    const idle = [...this.#served].find(({ isIdle }) => isIdle);
    if (idle === undefined) return false;
    this.#served.delete(idle);
    idle.destroy();
    return true;
  }
}
