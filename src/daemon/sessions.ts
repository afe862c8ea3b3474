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
  type Era,
  type LaunchPlan,
  launchPlan,
  type PolicyState,
  REFUSALS_TOLD,
  type RefusedCall,
  type SessionReport,
  samePlan,
} from '../core/protocol.ts';
import { Quota } from '../core/quota.ts';
import type { ChannelKind } from '../core/server-traits.ts';
import { type Circumstances, circumstancesOf } from '../core/standing.ts';
import { runAtOnce } from '../core/steps.ts';
import { type ToldView, tellInSteps } from '../core/told-view.ts';
import {
  changesInSteps,
  EMPTY_VIEW,
  narrowInSteps,
  type RootChange,
  sameTold,
  sameView,
  type View,
  viewInSteps,
} from '../core/view.ts';
import type { Sight } from '../mcp/endpoint-session.ts';
import type { AttachedSession, Attachment } from '../socket/authority.ts';
import type { Log } from '../system/log.ts';
import { type Alike, keyOf, type Live } from './alike.ts';
import type { Grants } from './grants.ts';
import type { Wanted } from './questions.ts';
import { type RecordedChanges, recordedChanges, recordedSessions } from './recorded-changes.ts';
import { wantedIn } from './wanted.ts';

/** What is in force now, for new sessions and when something has changed. */
export interface InForce {
  readonly evidence: Evidence;
  readonly generation: string;
  readonly policyState: PolicyState;
  /** What is known of servers. */
  readonly catalogue: Catalogue;
  /** Of a policy that is about to be in force: nothing is told that it does not tell, as far as its places are known. */
  readonly limit?: Evidence;
}

export interface SessionsOptions {
  readonly record: Log;
  readonly version: string;
  readonly policyDirectories: readonly string[];
  /** ms since the epoch */
  readonly now: () => number;
  readonly grants: Pick<Grants, 'consentsOf' | 'keyOf'>;
}

/** What somebody who comes is told, and what that rests on. */
interface Welcome {
  readonly inForce: InForce;
  /** Those who are alike, if there were any. */
  readonly known: Alike | null;
  readonly alike: Alike;
  readonly view: View;
  readonly told: ToldView;
  readonly recorded: RecordedChanges;
}

export interface SessionRow {
  readonly id: string;
  readonly server: string | null;
  readonly class: string;
  readonly host: string | null;
  readonly uid: number | null;
  readonly pid: number | null;
  readonly since: string;
  readonly era: Era;
  readonly roots: number;
  /** What carries the boundary to it. */
  readonly channels: readonly ChannelKind[];
  /** false: not within 10 s of being ready; null: nobody knows yet, or needs to. */
  readonly askedForRoots: boolean | null;
}

export class Sessions {
  readonly #live = new Map<AttachedSession, Live>();
  readonly #alike = new Map<string, Alike>();
  readonly #record: Log;
  readonly #version: string;
  readonly #policyDirectories: readonly string[];
  readonly #now: () => number;
  readonly #grants: SessionsOptions['grants'];
  #inForce: InForce;

  constructor(inForce: InForce, options: SessionsOptions) {
    this.#inForce = inForce;
    this.#record = options.record;
    this.#version = options.version;
    this.#policyDirectories = options.policyDirectories;
    this.#now = options.now;
    this.#grants = options.grants;
  }

  get count(): number {
    return this.#live.size;
  }

  /** A peer wants roots: see Authority. Throws RootsError PEER_AMBIGUOUS where its command fits several servers. */
  *attach(params: AttachParams, observed: Observed | null, session: AttachedSession): Generator<void, Attachment> {
    const { server, host = null, launch } = params;
    const claims: PeerClaims = launch === undefined ? { server, host } : { server, host, launch };
    const found = yield* this.#welcome(claims, observed);
    // Where something has changed meanwhile all at once: or changes without end would keep it out.
    const { alike, recorded, ...made } = this.#holds(found) ? found : runAtOnce(this.#welcome(claims, observed));
    const told = alike.told ?? made.told;
    alike.told = told;
    alike.recorded = recorded;
    this.#alike.set(alike.key, alike);
    const live: Live = {
      session,
      alike,
      pid: observed?.pid ?? null,
      told,
      serial: 1,
      acknowledged: false,
      report: null,
      refusals: new Quota(REFUSALS_TOLD.limit, REFUSALS_TOLD.windowMs),
    };
    alike.lives.add(live);
    this.#live.set(session, live);
    const { generation } = this.#inForce;
    this.#record('info', LOG_EVENTS.attached, { session: session.id, peer: wirePeer(live), generation, ...recorded });
    return { peer: wirePeer(live), told };
  }

  /** What is in force for a session, to be asked anew each time; also when it has ended. */
  sightOf(session: AttachedSession): () => Sight {
    const live = this.#live.get(session);
    if (live === undefined) throw new Error('INVARIANT: only sessions that are attached see anything');
    return () => {
      const { peer, view, owner } = live.alike;
      const { evidence } = this.#inForce;
      return { peer, view, evidence, circumstances: this.#circumstancesOf(evidence, peer, owner) };
    };
  }

  closed(session: AttachedSession): void {
    const live = this.#live.get(session);
    if (live === undefined) return;
    this.#live.delete(session);
    this.#leave(live);
    this.#record('info', LOG_EVENTS.detached, { session: session.id, peer: wirePeer(live) });
  }

  /** The peer says that a view is in force on its side. Is it what it was told last? */
  acknowledge(session: AttachedSession, { generation, serial }: Ack): boolean {
    const live = this.#live.get(session);
    if (live?.told.generation !== generation || (serial ?? live.serial) !== live.serial) return false;
    live.acknowledged = true;
    return true;
  }

  /** What a peer says of its session: shown, and nothing is decided by it. */
  reported(session: AttachedSession, report: SessionReport): void {
    const live = this.#live.get(session);
    if (live === undefined) return;
    const isNew = live.report?.askedForRoots !== report.askedForRoots;
    live.report = report;
    if (!isNew || report.askedForRoots !== false) return;
    this.#record('warn', LOG_EVENTS.rootsNotAsked, { session: session.id, peer: wirePeer(live) });
  }

  /** A peer says that it has refused a call. `claimed`: nobody but the peer has seen it. */
  refused(session: AttachedSession, { left, ...claimed }: RefusedCall): void {
    const live = this.#live.get(session);
    const leftHere = live?.refusals.take(this.#now()) ?? null;
    if (live === undefined || leftHere === null) return;
    const fields = { session: session.id, peer: wirePeer(live), claimed, left: left + leftHere };
    this.#record('info', LOG_EVENTS.callRefused, fields);
  }

  /** What a person could give to a session. */
  wantedOf(session: AttachedSession): readonly Wanted[] {
    const alike = this.#live.get(session)?.alike;
    if (alike === undefined) return [];
    const { policy } = this.#inForce.evidence;
    alike.wanted ??= wantedIn(alike.view, { peer: alike.peer, policy, keyOf: this.#grants.keyOf.bind(this.#grants) });
    return alike.wanted;
  }

  /** Something is given or refused to these sessions alone: from now on each has a view of its own. */
  separate(ids: ReadonlySet<string>): void {
    for (const live of this.#live.values()) {
      const { session, alike } = live;
      if (!ids.has(session.id) || alike.owner !== null) continue;
      this.#leave(live);
      live.alike = { ...alike, key: `${alike.key} ${session.id}`, owner: session.id, lives: new Set([live]) };
      this.#alike.set(live.alike.key, live.alike);
    }
  }

  /** The sessions that watch, by whether they have acknowledged what they were told last. */
  watching(): { readonly acknowledged: readonly AttachedSession[]; readonly open: readonly AttachedSession[] } {
    const watching = [...this.#live.values()].filter(({ session }) => session.state.watching);
    const those = (isDone: boolean) =>
      watching.filter(({ acknowledged }) => acknowledged === isDone).map(({ session }) => session);
    return { acknowledged: those(true), open: those(false) };
  }

  /**
   * Decides anew under what is in force now, once for all that are alike, and tells those whose view changed. A root or a
   * session a step: those that have not had their turn keep what they have.
   */
  *refreshInSteps(inForce: InForce): Generator<void> {
    this.#inForce = inForce;
    for (const alike of this.#alike.values()) {
      yield* this.#refreshAlike(alike);
      yield;
    }
  }

  /** The pids of the sessions that say they start a server; null where the kernel does not name one. */
  launchers(): readonly (number | null)[] {
    return [...this.#live.values()].filter(({ alike }) => alike.claims.launch !== undefined).map(({ pid }) => pid);
  }

  rows(): readonly SessionRow[] {
    return [...this.#live.values()].map((live) => {
      const { uid, pid, server, host } = wirePeer(live);
      const { session, alike } = live;
      const since = new Date(session.since).toISOString();
      return {
        id: session.id,
        server,
        class: alike.peer.class,
        host,
        uid,
        pid,
        since,
        era: live.report?.era ?? session.state.era,
        roots: alike.view.told.length,
        channels: live.report?.channels ?? (alike.plan.roots ? ['roots'] : []),
        askedForRoots: live.report === null ? session.state.listed || null : live.report.askedForRoots,
      };
    });
  }

  #circumstancesOf(evidence: Evidence, peer: Peer, owner: string | null): Circumstances {
    return { ...circumstancesOf(evidence, peer), consents: this.#grants.consentsOf(owner) };
  }

  #leave(live: Live): void {
    const { alike } = live;
    alike.lives.delete(live);
    if (alike.lives.size === 0) this.#alike.delete(alike.key);
  }

  /** What somebody who comes is told, and with whom. Nothing is changed by it. */
  *#welcome(claims: PeerClaims, observed: Observed | null): Generator<void, Welcome> {
    const inForce = this.#inForce;
    const key = keyOf(claims, observed);
    const known = this.#alike.get(key) ?? null;
    const alike = known ?? (yield* this.#newAlike(key, claims, observed));
    const { view } = alike;
    const told = alike.told ?? (yield* this.#toldInSteps(alike, { isWatched: false }));
    const recorded = alike.recorded ?? recordedChanges(yield* changesInSteps(EMPTY_VIEW, view));
    return { inForce, known, alike, view, told, recorded };
  }

  /** Is it still so? */
  #holds({ inForce, known, alike, view }: Welcome): boolean {
    return inForce === this.#inForce && known === (this.#alike.get(alike.key) ?? null) && view === alike.view;
  }

  *#newAlike(key: string, claims: PeerClaims, observed: Observed | null): Generator<void, Alike> {
    const { evidence } = this.#inForce;
    const identified = identifyPeer(evidence.policy, claims, observed);
    if (identified.state === 'ambiguous') {
      throw new RootsError('PEER_AMBIGUOUS', { servers: identified.servers.map((name) => `"${name}"`).join(' and ') });
    }
    const { peer } = identified;
    const plan = this.#planOf(peer);
    const view = yield* this.#viewOf({ claims, observed, peer, owner: null });
    const own = { told: null, recorded: null, wanted: null, owner: null, lives: new Set<Live>() };
    return { key, claims, observed, peer, plan, view, ...own };
  }

  *#toldInSteps(
    { view, plan }: Pick<Alike, 'view' | 'plan'>,
    { isWatched }: { readonly isWatched: boolean },
  ): Generator<void, ToldView> {
    const { generation } = this.#inForce;
    const told = yield* tellInSteps(view, { generation, plan });
    yield* told.makeInSteps({ isWatched });
    return told;
  }

  *#viewOf({
    claims,
    observed,
    peer,
    owner,
  }: Pick<Alike, 'claims' | 'observed' | 'peer' | 'owner'>): Generator<void, View> {
    const { evidence, limit } = this.#inForce;
    const view = yield* viewInSteps(evidence, peer, this.#circumstancesOf(evidence, peer, owner));
    if (limit === undefined) return view;
    // Whom that policy takes the peer for; where its command fits several servers there, for none.
    const limited = peerOf(identifyPeer(limit.policy, claims, observed), peer);
    return yield* narrowInSteps(view, yield* viewInSteps(limit, limited, this.#circumstancesOf(limit, limited, owner)));
  }

  /** Tells them if there is something to tell, and writes it down if that is another list. */
  *#refreshAlike(alike: Alike): Generator<void> {
    const { claims, observed, owner } = alike;
    const peer = peerOf(identifyPeer(this.#inForce.evidence.policy, claims, observed), alike.peer);
    const view = yield* this.#viewOf({ claims, observed, peer, owner });
    const plan = this.#planOf(peer);
    const { view: before } = alike;
    const next = { peer, plan, view, recorded: null, wanted: null };
    if (sameView(before, view) && samePlan(alike.plan, plan)) {
      Object.assign(alike, { ...next, told: null });
      return;
    }
    const isWatched = [...alike.lives].some(({ session }) => session.state.watching);
    const told = yield* this.#toldInSteps({ view, plan }, { isWatched });
    const listChanged = !sameTold(before, view);
    const changes = listChanged ? yield* changesInSteps(before, view) : [];
    // Only now, with all who have come meanwhile among those who are told.
    Object.assign(alike, { ...next, told });
    const lives = yield* this.#publish(told, { lives: [...alike.lives], listChanged });
    if (listChanged) this.#recordChange(lives, changes);
  }

  /**
   * Tells those that are still open; returns them. Who joins them meanwhile has been told when it attached, and who gets a
   * view of its own meanwhile has this one as its first.
   */
  *#publish(
    told: ToldView,
    { lives, listChanged }: { readonly lives: readonly Live[]; readonly listChanged: boolean },
  ): Generator<void, readonly Live[]> {
    const heard: Live[] = [];
    for (const live of lives) {
      if (!this.#live.has(live.session)) continue;
      live.told = told;
      live.serial += 1;
      live.acknowledged = false;
      live.session.publish(told, { serial: live.serial, listChanged });
      heard.push(live);
      yield;
    }
    return heard;
  }

  /** One line for all whose list has changed in the same way: what came and went, by which rule, and why. */
  #recordChange(lives: readonly Live[], changes: readonly RootChange[]): void {
    const [first, ...others] = lives;
    if (first === undefined) return;
    const peer = wirePeer(first);
    const fields = { ...recordedSessions(lives), peer: others.length === 0 ? peer : { ...peer, pid: null } };
    this.#record('info', LOG_EVENTS.decided, {
      ...fields,
      generation: this.#inForce.generation,
      ...recordedChanges(changes),
    });
  }

  #planOf({ claimed }: Peer): LaunchPlan {
    const { evidence, policyState, catalogue } = this.#inForce;
    const { policy } = evidence;
    const entry = claimed.server === null ? undefined : policy.servers.get(claimed.server);
    const policyFiles = policy.layers.flatMap(({ files }) => files.map(({ path }) => path));
    const policyDirectories = this.#policyDirectories;
    const known = knownServerFor(catalogue, claimed.launch?.argv ?? entry?.selectors.command ?? []);
    const facts = { policyFiles, policyDirectories, policyState, version: this.#version };
    return launchPlan(entry, traitsOf(known, entry), facts);
  }
}

/** A peer whose command now fits several servers is nameless from then on: that only narrows. */
function peerOf(identified: Identification, before: Peer): Peer {
  if (identified.state === 'known') return identified.peer;
  return { ...before, claimed: { ...before.claimed, server: null } };
}

function wirePeer({ alike, pid }: Live): AttachResult['peer'] {
  const { observed, claimed, class: peerClass } = alike.peer;
  return {
    uid: observed?.user.uid ?? null,
    gid: observed?.gid ?? null,
    pid,
    exe: observed?.exe ?? null,
    class: peerClass,
    server: claimed.server,
    host: claimed.host,
  };
}
