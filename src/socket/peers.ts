// The peers' socket: takes connections, makes a session of each, closes them all.

import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Native } from '../disk/native.ts';
import type { Log } from '../system/log.ts';
import { type Admission, admitOwnUser, limitsOfRefused } from './admission.ts';
import type { Authority } from './authority.ts';
import type { Capacity } from './capacity.ts';
import { closeAll } from './close-all.ts';
import type { LineLimits } from './json-lines.ts';
import { KeptListener } from './kept-listener.ts';
import type { ListenAt } from './listen.ts';
import { PeerSession } from './peer-session.ts';
import { RefusedLog } from './refused-log.ts';

export interface PeersOptions {
  readonly at: ListenAt;
  readonly limits: LineLimits;
  /** Shared with the other sockets of the daemon. */
  readonly capacity: Capacity;
  readonly authority: Authority;
  /** null: of peers nothing is known but the uid. */
  readonly native: Native | null;
  readonly log: Log;
  /** ms since the epoch */
  readonly now: () => number;
  /** The named listener that this socket is; undefined for the common one. */
  readonly listener?: string;
}

/** Starts to serve peers. Throws as listen() does. */
export async function openPeers(options: PeersOptions): Promise<Peers> {
  const peers = new Peers(options);
  await peers.open();
  return peers;
}

export class Peers implements AsyncDisposable {
  readonly #options: PeersOptions;
  readonly #admission: Admission;
  readonly #sessions = new Set<PeerSession>();
  readonly #listener: KeptListener;
  readonly #refusedLog: RefusedLog;

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#admission = admitOwnUser(options);
    const { at, native, log, capacity } = options;
    this.#refusedLog = new RefusedLog({ log, event: LOG_EVENTS.refused });
    this.#listener = new KeptListener({
      at,
      purpose: 'peers',
      descriptors: capacity.descriptors,
      native,
      log,
      onConnection: (socket) => this.#connected(socket),
      onShortage: () => this.#makeRoom(),
    });
  }

  /** Where peers connect. */
  get address(): string {
    return this.#listener.address;
  }

  async open(): Promise<void> {
    await this.#listener.open();
    const { log, native } = this.#options;
    if (native === null) log('warn', LOG_EVENTS.peerFactsLimited, { address: this.address });
  }

  /** See KeptListener. */
  keepListening(): Promise<void> {
    return this.#listener.keepListening();
  }

  /** Takes no more connections and ends those that are open; what waits for them is sent, for a second at most. */
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
    const { limits, capacity, authority, log, now } = this.#options;
    const refusal = this.#admission.refusal(facts);
    const session = new PeerSession(socket, {
      id: randomBytes(8).toString('hex'),
      since: now(),
      limits: refusal === null ? limits : limitsOfRefused(limits),
      held: capacity.held,
      slices: capacity.slices,
      authority,
      log: refusal === null ? log : this.#refusedLog.of(facts.uid),
      facts,
      refusal: () => refusal ?? capacity.sessions.refusal(),
      onAttach: (attached) => capacity.sessions.attach(attached),
      onClose: (closed) => this.#closed(closed),
    });
    this.#sessions.add(session);
    if (refusal === null) capacity.sessions.enter(session);
    else capacity.sessions.enterRefused(session);
  }

  #closed(session: PeerSession): void {
    const { sessions, descriptors } = this.#options.capacity;
    this.#sessions.delete(session);
    sessions.leave(session);
    descriptors.freed();
  }

  /** Without the native layer new connections cannot be left to wait: then the oldest silent one goes for each. */
  #makeRoom(): void {
    const { native, capacity, now } = this.#options;
    if (native === null) capacity.sessions.dropOldestSilent();
    else capacity.sessions.dropLongSilent(now());
  }
}
