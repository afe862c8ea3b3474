import type { PeerClaims } from '../core/identify.ts';
import type { Observed, Peer } from '../core/peer.ts';
import type { AttachResult, LaunchPlan, SessionReport } from '../core/protocol.ts';
import type { Quota } from '../core/quota.ts';
import type { ToldView } from '../core/told-view.ts';
import type { View } from '../core/view.ts';
import type { AttachedSession } from '../socket/authority.ts';
import type { Wanted } from './questions.ts';
import type { RecordedChanges } from './recorded-changes.ts';

/** A session, and what is its own. */
export interface Live {
  readonly session: AttachedSession;
  alike: Alike;
  readonly pid: number | null;
  /** What it was told last, the number of that, and whether it has acknowledged it. */
  told: ToldView;
  serial: number;
  acknowledged: boolean;
  /** What it says of itself; null: nothing. */
  report: SessionReport | null;
  /** Of its refused calls, so many are written down. */
  readonly refusals: Quota;
}

/** Sessions of peers of whom all is equal that decisions look at: they have one view. */
export interface Alike {
  readonly key: string;
  readonly claims: PeerClaims;
  /** Of the first of them: pid and start time are each one's own. */
  readonly observed: Observed | null;
  /** The one session that something was given or refused to; null: nothing was to any of them. */
  readonly owner: string | null;
  peer: Peer;
  plan: LaunchPlan;
  view: View;
  /** What the next one is told; null: not made since the last change of what is in force. */
  told: ToldView | null;
  /** What is written down of the list of the next one; null: not made since the view was. */
  recorded: RecordedChanges | null;
  /** What a person could give them; null: not looked for since the view was made. */
  wanted: readonly Wanted[] | null;
  readonly lives: Set<Live>;
}

/** Equal for peers that are alike. No decision looks at a number of a process or at when it began. */
export function keyOf(claims: PeerClaims, observed: Observed | null): string {
  return JSON.stringify([claims, observed], (name, value) =>
    name === 'pid' || name === 'startTime' ? undefined : value,
  );
}

/** A session's peer, as it is told and written down. */
export function wirePeer({ alike, pid }: Live): AttachResult['peer'] {
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
