import { RootsError } from '../core/errors.ts';

/** A connection that has a place. */
export interface Occupant {
  /** Ends at once. */
  destroy(): void;
}

export interface PeerOccupant extends Occupant {
  /** ms since the epoch */
  readonly since: number;
}

/** A user whom this daemon does not serve has so many connections at a time: enough for each to hear why. */
const MAX_REFUSED = 16;
/** So long a connection may be silent where there is no room for others. */
const SILENT_MS = 1_000;

/**
 * The places of all sockets of a daemon together. `limit` sessions may be attached at once, and as many connections may be
 * silent: a burst of new ones is accepted before any of them is read. Of more silent ones the oldest goes. Those of other
 * users take nobody's place.
 */
export class SessionRoom {
  readonly #limit: number;
  readonly #attached = new Set<Occupant>();
  readonly #silent = new Set<PeerOccupant>();
  readonly #refused = new Set<Occupant>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Why no more can attach, or null. */
  refusal(): RootsError | null {
    return this.#attached.size < this.#limit ? null : new RootsError('PEER_SESSIONS_FULL', { limit: this.#limit });
  }

  /** A connection that has said nothing yet. */
  enter(occupant: PeerOccupant): void {
    this.#silent.add(occupant);
    if (this.#silent.size > this.#limit) this.dropOldestSilent();
  }

  /** A connection of another user. */
  enterRefused(occupant: Occupant): void {
    this.#refused.add(occupant);
    if (this.#refused.size > MAX_REFUSED) dropOldest(this.#refused);
  }

  attach(occupant: PeerOccupant): void {
    this.#silent.delete(occupant);
    this.#attached.add(occupant);
  }

  leave(occupant: PeerOccupant): void {
    this.#silent.delete(occupant);
    this.#attached.delete(occupant);
    this.leaveRefused(occupant);
  }

  leaveRefused(occupant: Occupant): void {
    this.#refused.delete(occupant);
  }

  dropOldestSilent(): void {
    dropOldest(this.#silent);
  }

  /** Makes room: ends the connections that have been silent for long at `now`. */
  dropLongSilent(now: number): void {
    for (const occupant of this.#silent) if (now - occupant.since >= SILENT_MS) occupant.destroy();
  }
}

function dropOldest(places: Set<Occupant>): void {
  const [oldest] = places;
  if (oldest === undefined) return;
  places.delete(oldest);
  oldest.destroy();
}
