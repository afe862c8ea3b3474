// The live sessions: who each peer is, what it is told, and who has heard of the last change.

import type { PeerClaims } from '../core/identify.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Observed } from '../core/peer.ts';
import { type Ack, type AttachParams, REFUSALS_TOLD, type RefusedCall, type SessionReport } from '../core/protocol.ts';
import { Quota } from '../core/quota.ts';
import { runAtOnce } from '../core/steps.ts';
import type { ToldView } from '../core/told-view.ts';
import { changesInSteps, EMPTY_VIEW, type View } from '../core/view.ts';
import type { Sight } from '../mcp/endpoint-session.ts';
import type { AttachedSession, Attachment } from '../socket/authority.ts';
import type { Log } from '../system/log.ts';
import type { InForce } from './activation.ts';
import { type Alike, keyOf, type Live, wirePeer } from './alike.ts';
import type { Launchers } from './person-behind.ts';
import type { Wanted } from './questions.ts';
import { type RecordedChanges, recordedChanges } from './recorded-changes.ts';
import { refreshSessions } from './refresh-sessions.ts';
import { type SessionRow, sessionRow } from './session-rows.ts';
import { Views, type ViewsOptions } from './views.ts';

export interface SessionsOptions extends ViewsOptions {
  readonly record: Log;
  /** ms since the epoch */
  readonly now: () => number;
}

/** What somebody who comes is told, and what that rests on. */
interface Welcome {
  readonly views: Views;
  /** Those who are alike, if there were any. */
  readonly known: Alike | null;
  readonly alike: Alike;
  readonly view: View;
  readonly told: ToldView;
  readonly recorded: RecordedChanges;
}

export class Sessions {
  readonly #live = new Map<AttachedSession, Live>();
  readonly #alike = new Map<string, Alike>();
  readonly #options: SessionsOptions;
  readonly #record: Log;
  /** Under what is in force. */
  #views: Views;

  constructor(inForce: InForce, options: SessionsOptions) {
    this.#options = options;
    this.#record = options.record;
    this.#views = new Views(inForce, options);
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
    const { generation } = this.#views.inForce;
    this.#record('info', LOG_EVENTS.attached, { session: session.id, peer: wirePeer(live), generation, ...recorded });
    return { peer: wirePeer(live), told };
  }

  /** What is in force for a session, to be asked anew each time; also when it has ended. */
  sightOf(session: AttachedSession): () => Sight {
    const live = this.#live.get(session);
    if (live === undefined) throw new Error('INVARIANT: only sessions that are attached see anything');
    return () => {
      const { alike } = live;
      const { peer, view } = alike;
      const { evidence } = this.#views.inForce;
      return { peer, view, evidence, circumstances: this.#views.circumstancesOf(alike) };
    };
  }

  /** The number of the view that it was told last. */
  serialOf(session: AttachedSession): number {
    return this.#live.get(session)?.serial ?? 1;
  }

  /** What it sees of the roots; what one sees that has ended is nothing. */
  viewOf(session: AttachedSession): View {
    return this.#live.get(session)?.alike.view ?? EMPTY_VIEW;
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
    const leftHere = live?.refusals.take(this.#options.now()) ?? null;
    if (live === undefined || leftHere === null) return;
    const fields = { session: session.id, peer: wirePeer(live), claimed, left: left + leftHere };
    this.#record('info', LOG_EVENTS.callRefused, fields);
  }

  /** What a person could give to a session. */
  wantedOf(session: AttachedSession): readonly Wanted[] {
    const alike = this.#live.get(session)?.alike;
    if (alike === undefined) return [];
    alike.wanted ??= this.#views.wantedBy(alike);
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

  /** Decides anew under what is in force now, and tells those whose view changed: see refreshSessions(). */
  *refreshInSteps(inForce: InForce): Generator<void> {
    this.#views = new Views(inForce, this.#options);
    yield* refreshSessions({
      views: this.#views,
      alike: this.#alike.values(),
      isLive: (session) => this.#live.has(session),
      record: this.#record,
    });
  }

  /** Is this `rootsd run`, by its command line? */
  isRun(session: AttachedSession): boolean {
    return this.#live.get(session)?.alike.peer.class === 'launched';
  }

  /** The pids of the sessions that say they start a server; null where the kernel does not name one. */
  launchers(): Launchers {
    return [...this.#live.values()].filter(({ alike }) => alike.claims.launch !== undefined).map(({ pid }) => pid);
  }

  rows(): readonly SessionRow[] {
    return [...this.#live.values()].map(sessionRow);
  }

  #leave(live: Live): void {
    const { alike } = live;
    alike.lives.delete(live);
    if (alike.lives.size === 0) this.#alike.delete(alike.key);
  }

  /** What somebody who comes is told, and with whom. Nothing is changed by it. */
  *#welcome(claims: PeerClaims, observed: Observed | null): Generator<void, Welcome> {
    const views = this.#views;
    const known = this.#alike.get(keyOf(claims, observed)) ?? null;
    const alike = known ?? (yield* views.decideFirst(claims, observed));
    const { view } = alike;
    const told = alike.told ?? (yield* views.tell(alike, { isWatched: false }));
    const recorded = alike.recorded ?? recordedChanges(yield* changesInSteps(EMPTY_VIEW, view));
    return { views, known, alike, view, told, recorded };
  }

  /** Is it still so? */
  #holds({ views, known, alike, view }: Welcome): boolean {
    return views === this.#views && known === (this.#alike.get(alike.key) ?? null) && view === alike.view;
  }
}
