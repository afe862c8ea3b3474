import type { Era } from '../core/protocol.ts';
import type { ChannelKind } from '../core/server-traits.ts';
import { type Live, wirePeer } from './alike.ts';

/** A session as `rootsd sessions` shows it. */
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

/** What is known of a session; what it says of itself where it says something. */
export function sessionRow(live: Live): SessionRow {
  const { uid, pid, server, host } = wirePeer(live);
  const { session, alike, report } = live;
  return {
    id: session.id,
    server,
    class: alike.peer.class,
    host,
    uid,
    pid,
    since: new Date(session.since).toISOString(),
    era: report?.era ?? session.state.era,
    roots: alike.view.told.length,
    channels: report?.channels ?? (alike.plan.roots ? ['roots'] : []),
    askedForRoots: report === null ? session.state.listed || null : report.askedForRoots,
  };
}
