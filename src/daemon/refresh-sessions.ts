// The steps in which sessions are decided anew when something else is in force.

import { LOG_EVENTS } from '../core/log-event.ts';
import { samePlan } from '../core/protocol.ts';
import type { ToldView } from '../core/told-view.ts';
import { changesInSteps, type RootChange, sameTold, sameView } from '../core/view.ts';
import type { AttachedSession } from '../socket/authority.ts';
import type { Log } from '../system/log.ts';
import { type Alike, type Live, wirePeer } from './alike.ts';
import { recordedChanges, recordedSessions } from './recorded-changes.ts';
import type { Views } from './views.ts';

export interface Refreshed {
  /** Under what is in force from now on. */
  readonly views: Views;
  /** All sessions. May be iterated while some come and go. */
  readonly alike: Iterable<Alike>;
  readonly isLive: (session: AttachedSession) => boolean;
  readonly record: Log;
}

/**
 * Decides anew, once for all that are alike, and tells those whose view changed. A root or a session a step: those that have
 * not had their turn keep what they have.
 */
export function* refreshSessions(refreshed: Refreshed): Generator<void> {
  for (const alike of refreshed.alike) {
    yield* refreshAlike(alike, refreshed);
    yield;
  }
}

/** Tells them if there is something to tell, and writes it down if that is another list. */
function* refreshAlike(alike: Alike, refreshed: Refreshed): Generator<void> {
  const { views } = refreshed;
  const decided = yield* views.decideAgain(alike);
  const { view, plan } = decided;
  const { view: before } = alike;
  const next = { ...decided, recorded: null, wanted: null };
  if (sameView(before, view) && samePlan(alike.plan, plan)) {
    Object.assign(alike, { ...next, told: null });
    return;
  }
  const isWatched = [...alike.lives].some(({ session }) => session.state.watching);
  const told = yield* views.tell(decided, { isWatched });
  const listChanged = !sameTold(before, view);
  const changes = listChanged ? yield* changesInSteps(before, view) : [];
  // Only now, with all who have come meanwhile among those who are told.
  Object.assign(alike, { ...next, told });
  const lives = yield* publish(told, { lives: [...alike.lives], listChanged, isLive: refreshed.isLive });
  if (listChanged) recordChange(refreshed, lives, changes);
}

interface Published extends Pick<Refreshed, 'isLive'> {
  readonly lives: readonly Live[];
  readonly listChanged: boolean;
}

/**
 * Tells those that are still open; returns them. Who joins them meanwhile has been told when it attached, and who gets a
 * view of its own meanwhile has this one as its first.
 */
function* publish(told: ToldView, { lives, listChanged, isLive }: Published): Generator<void, readonly Live[]> {
  const heard: Live[] = [];
  for (const live of lives) {
    if (!isLive(live.session)) continue;
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
function recordChange({ record, views }: Refreshed, lives: readonly Live[], changes: readonly RootChange[]): void {
  const [first, ...others] = lives;
  if (first === undefined) return;
  const peer = wirePeer(first);
  record('info', LOG_EVENTS.decided, {
    ...recordedSessions(lives),
    peer: others.length === 0 ? peer : { ...peer, pid: null },
    generation: views.inForce.generation,
    ...recordedChanges(changes),
  });
}
