// The live sessions: who each peer is, what it is told, and who has heard of the last change.

import { type Catalogue, knownServerFor, traitsOf } from '../core/catalogue.ts';
import { RootsError } from '../core/errors.ts';
import type { Evidence } from '../core/evidence.ts';
import { type Identification, identifyPeer, type PeerClaims } from '../core/identify.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Observed, Peer } from '../core/peer.ts';
import {
  type Ack,
  type AttachParams,
  type AttachResult,
  type LaunchPlan,
  launchPlan,
  type PolicyState,
  samePlan,
  type ViewMessage,
  viewMessage,
  wireBoundary,
  wireRoots,
} from '../core/protocol.ts';
import { NOTHING_CARVES } from '../core/standing.ts';
import { buildView, changedRoots, EMPTY_VIEW, sameTold, sameView, type View } from '../core/view.ts';
import type { AttachedSession } from '../socket/authority.ts';
import type { Log } from '../system/log.ts';

/** What is in force now, for new sessions and when something has changed. */
export interface InForce {
  readonly evidence: Evidence;
  readonly generation: string;
  readonly policyState: PolicyState;
}

export interface SessionsOptions {
  readonly record: Log;
  readonly version: string;
  readonly policyDirectories: readonly string[];
  readonly catalogue: Catalogue;
}

interface Live {
  readonly claims: PeerClaims;
  readonly observed: Observed | null;
  peer: Peer;
  view: View;
  /** What it was told last, and whether it has acknowledged that. */
  told: ViewMessage;
  acknowledged: boolean;
}

export interface SessionRow {
  readonly id: string;
  readonly server: string | null;
  readonly class: string;
  readonly host: string | null;
  readonly uid: number | null;
  readonly pid: number | null;
  readonly since: string;
  readonly era: 'legacy' | 'modern';
  readonly roots: number;
}

export class Sessions {
  readonly #live = new Map<AttachedSession, Live>();
  readonly #record: Log;
  readonly #version: string;
  readonly #policyDirectories: readonly string[];
  readonly #catalogue: Catalogue;
  #inForce: InForce;

  constructor(inForce: InForce, options: SessionsOptions) {
    this.#inForce = inForce;
    this.#record = options.record;
    this.#version = options.version;
    this.#policyDirectories = options.policyDirectories;
    this.#catalogue = options.catalogue;
  }

  get count(): number {
    return this.#live.size;
  }

  /** A peer wants roots. Throws RootsError PEER_AMBIGUOUS where its command fits several servers. */
  attach(
    params: AttachParams,
    observed: Observed | null,
    session: AttachedSession,
  ): AttachResult & { readonly view: ViewMessage } {
    const { server, host = null, launch } = params;
    const claims: PeerClaims = launch === undefined ? { server, host } : { server, host, launch };
    const { evidence, generation } = this.#inForce;
    const identified = identifyPeer(evidence.policy, claims, observed);
    if (identified.state === 'ambiguous') {
      throw new RootsError('PEER_AMBIGUOUS', { servers: identified.servers.map((name) => `"${name}"`).join(' and ') });
    }
    const { peer } = identified;
    const view = buildView(evidence, peer, NOTHING_CARVES);
    const plan = this.#planOf(peer);
    const told = viewMessage(view, { generation, serial: 1, plan });
    this.#live.set(session, { claims, observed, peer, view, told, acknowledged: false });
    this.#record('info', LOG_EVENTS.attached, {
      session: session.id,
      ...peerFields(peer),
      generation,
      changes: changedRoots(EMPTY_VIEW, view),
    });
    return {
      session: session.id,
      generation,
      peer: { ...wirePeer(peer), class: peer.class },
      roots: wireRoots(view),
      boundary: wireBoundary(view),
      plan,
      view: told,
    };
  }

  closed(session: AttachedSession): void {
    const live = this.#live.get(session);
    if (live === undefined) return;
    this.#live.delete(session);
    this.#record('info', LOG_EVENTS.detached, { session: session.id, ...peerFields(live.peer) });
  }

  /** The peer says that a view is in force on its side. Is it what it was told last? */
  acknowledge(session: AttachedSession, { generation, serial }: Ack): boolean {
    const live = this.#live.get(session);
    if (live?.told.generation !== generation || (serial ?? live.told.serial) !== live.told.serial) return false;
    live.acknowledged = true;
    return true;
  }

  /** The sessions that watch, by whether they have acknowledged what they were told last. */
  watching(): { readonly acknowledged: readonly AttachedSession[]; readonly open: readonly AttachedSession[] } {
    const watching = [...this.#live].filter(([session]) => session.state.watching);
    const those = (isDone: boolean) => watching.filter(([, live]) => live.acknowledged === isDone).map(([it]) => it);
    return { acknowledged: those(true), open: those(false) };
  }

  /** Re-evaluates every session under what is in force now, and tells those whose view changed. */
  refresh(inForce: InForce): void {
    this.#inForce = inForce;
    const views = new Map<string, View>();
    for (const [session, live] of this.#live) {
      live.peer = peerOf(identifyPeer(inForce.evidence.policy, live.claims, live.observed), live);
      const key = JSON.stringify(live.peer, (name, value) =>
        name === 'pid' || name === 'startTime' ? undefined : value,
      );
      const view = views.get(key) ?? buildView(inForce.evidence, live.peer, NOTHING_CARVES);
      views.set(key, view);
      this.#tell(session, live, view);
    }
  }

  rows(): readonly SessionRow[] {
    return [...this.#live].map(([session, { peer, view }]) => {
      const { uid, pid, server, host } = wirePeer(peer);
      const since = new Date(session.since).toISOString();
      return {
        id: session.id,
        server,
        class: peer.class,
        host,
        uid,
        pid,
        since,
        era: 'legacy',
        roots: view.told.length,
      };
    });
  }

  #tell(session: AttachedSession, live: Live, view: View): void {
    const { view: previous, told } = live;
    const plan = this.#planOf(live.peer);
    if (sameView(previous, view) && samePlan(told.plan, plan)) return;
    const { generation } = this.#inForce;
    const listChanged = !sameTold(previous, view);
    live.view = view;
    live.told = viewMessage(view, { generation, serial: told.serial + 1, plan });
    live.acknowledged = false;
    if (listChanged) this.#recordChange(session, live, previous);
    session.publish(live.told, { listChanged });
  }

  /** One line for each change of a session's list: what came and went, by which rule, and why. */
  #recordChange(session: AttachedSession, { peer, view }: Live, previous: View): void {
    const { generation } = this.#inForce;
    const changes = changedRoots(previous, view);
    this.#record('info', LOG_EVENTS.decided, { session: session.id, ...peerFields(peer), generation, changes });
  }

  #planOf({ claimed }: Peer): LaunchPlan {
    const { evidence, policyState } = this.#inForce;
    const { policy } = evidence;
    const entry = claimed.server === null ? undefined : policy.servers.get(claimed.server);
    const policyFiles = policy.layers.flatMap(({ files }) => files.map(({ path }) => path));
    const policyDirectories = this.#policyDirectories;
    const known = knownServerFor(this.#catalogue, claimed.launch?.argv ?? entry?.selectors.command ?? []);
    const facts = { policyFiles, policyDirectories, policyState, version: this.#version };
    return launchPlan(entry, traitsOf(known, entry), facts);
  }
}

/** A session whose command now fits several servers is nameless from then on: that only narrows. */
function peerOf(identified: Identification, live: Live): Peer {
  if (identified.state === 'known') return identified.peer;
  return { ...live.peer, claimed: { ...live.peer.claimed, server: null } };
}

function wirePeer(peer: Peer): Omit<AttachResult['peer'], 'class'> {
  const { observed, claimed } = peer;
  return {
    uid: observed?.user.uid ?? null,
    gid: observed?.gid ?? null,
    pid: observed?.pid ?? null,
    exe: observed?.exe ?? null,
    server: claimed.server,
    host: claimed.host,
  };
}

function peerFields(peer: Peer): { [name: string]: unknown } {
  return { peer: { ...wirePeer(peer), class: peer.class } };
}
