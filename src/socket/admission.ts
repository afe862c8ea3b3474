import type { Socket } from 'node:net';
import { RootsError } from '../core/errors.ts';
import type { User } from '../core/peer.ts';
import { ownUid } from '../disk/account.ts';
import type { Native } from '../disk/native.ts';
import { readUser } from '../disk/user-facts.ts';
import type { LineLimits } from './json-lines.ts';
import { observePeer, type PeerFacts } from './peer-facts.ts';

/** Who comes in by a socket, and whether it may. */
export interface Admission {
  /** Synchronous, first thing in the connection handler. */
  observe(socket: Socket): PeerFacts;
  /** Why this peer is not served, or null. */
  refusal(facts: PeerFacts): RootsError | null;
}

export interface AdmissionOptions {
  readonly native: Native | null;
  /** The named listener that this socket is. */
  readonly listener?: string | undefined;
}

/** Whoever is refused has nothing to say that we would keep: no memory for other users. */
const MAX_REFUSED_MESSAGE = 4 * 1024;

/** Of a connection that is refused. */
export function limitsOfRefused(limits: LineLimits): LineLimits {
  return { ...limits, message: Math.min(limits.message, MAX_REFUSED_MESSAGE) };
}

/** A user's daemon: it refuses every other uid, root's too. */
export function admitOwnUser({ native, listener }: AdmissionOptions): Admission {
  const own = ownUid();
  const ownUser = readUser(own);
  const userOf = (uid: number): User => (uid === own ? ownUser : readUser(uid));
  return {
    observe: (socket) => observePeer(socket, { native, ownUid: own, userOf, listener }),
    refusal: ({ uid }) => (uid === own ? null : new RootsError('PEER_OTHER_USER', { uid: uid ?? 'unknown', own })),
  };
}
