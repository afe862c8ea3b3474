// The peers' socket: takes connections, makes a session of each, bounds their number, closes them all.

import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { RootsError } from '../core/errors.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Native } from '../disk/native.ts';
import type { Log } from '../system/log.ts';
import { type Admission, admitOwnUser } from './admission.ts';
import type { Authority } from './authority.ts';
import { closeAll } from './close-all.ts';
import type { LineLimits } from './json-lines.ts';
import { KeptListener } from './kept-listener.ts';
import type { ListenAt } from './listen.ts';
import { PeerSession } from './peer-session.ts';

export interface PeersOptions {
  readonly at: ListenAt;
  /**
   * `sessions`: how many may be attached at once, and as many may be silent: a burst of new ones is accepted before any
   * of them is read. Of more the oldest goes.
   */
  readonly limits: LineLimits & { readonly sessions: number };
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
  readonly #attached = new Set<PeerSession>();
  readonly #unattached = new Set<PeerSession>();
  readonly #listener: KeptListener;

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#admission = admitOwnUser(options);
    const { at, native, log } = options;
    this.#listener = new KeptListener({ at, native, log, onConnection: (socket) => this.#connected(socket) });
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
    await closeAll([...this.#attached, ...this.#unattached]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #connected(socket: Socket): void {
    const facts = this.#admission.observe(socket);
    const { limits, authority, log, now } = this.#options;
    const session = new PeerSession(socket, {
      id: randomBytes(8).toString('hex'),
      since: now(),
      limits,
      authority,
      log,
      facts,
      refusal: () => this.#admission.refusal(facts) ?? this.#fullness(),
      onAttach: () => this.#attach(session),
      onClose: () => this.#forget(session),
    });
    this.#unattached.add(session);
    const [oldest] = this.#unattached;
    if (this.#unattached.size > limits.sessions) oldest?.destroy();
  }

  #fullness(): RootsError | null {
    const { sessions } = this.#options.limits;
    return this.#attached.size < sessions ? null : new RootsError('PEER_SESSIONS_FULL', { limit: sessions });
  }

  #attach(session: PeerSession): void {
    this.#unattached.delete(session);
    this.#attached.add(session);
  }

  #forget(session: PeerSession): void {
    this.#unattached.delete(session);
    this.#attached.delete(session);
  }
}
