// What `rootsd consent` shows: the `--json` shapes (docs/consent.md).

import type { Access } from '../core/access.ts';
import type { ConsentEntry, Refusal } from '../core/consent-record.ts';
import type { Grant } from '../core/grant.ts';
import type { PeerClass } from '../core/peer.ts';
import type { Question } from '../core/question.ts';
import type { OpenQuestion } from './questions.ts';

interface Who {
  readonly server: string | null;
  readonly class: PeerClass;
  readonly host: string | null;
  readonly user: string;
}

interface What {
  readonly root: string;
  readonly path: string;
  readonly access: Access;
  readonly rule: string;
}

export interface PendingRow extends Who, What {
  readonly id: string;
  readonly reason: string | null;
  readonly scopes: readonly string[];
  readonly approver: 'user' | 'admin';
  readonly since: string;
  readonly until: string;
  readonly count: number;
}

export interface GrantRow extends Who, What {
  readonly id: string;
  readonly scope: string;
  /** The one session that it is for. */
  readonly session: string | null;
  readonly since: string;
  /** null: with its session. */
  readonly until: string | null;
  /** `sleeps`: its rule is not in force, or is another one now. `revoked`: it has just been taken back. */
  readonly state: 'holds' | 'sleeps' | 'revoked';
}

export interface RefusalRow extends Who, What {
  readonly count: number;
  readonly since: string;
}

export interface HistoryRow extends Who, What {
  readonly time: string;
  readonly event: string;
  readonly id: string;
  readonly scope: string | null;
  readonly channel: string | null;
  readonly uid: number | null;
  readonly note: string | null;
}

export interface ConsentReply {
  readonly pending: readonly PendingRow[];
  readonly grants: readonly GrantRow[];
  readonly history: readonly HistoryRow[];
}

/** One question or grant, with all that it is bound to. */
export interface ShownConsent {
  readonly pending: PendingRow | null;
  readonly grant: GrantRow | null;
  readonly facts: readonly string[];
  /** The path as the policy writes it; null where only the real one is kept. */
  readonly written: string | null;
  readonly identity: string;
  readonly file: string | null;
  readonly line: number | null;
}

export function pendingRow({ question, count }: OpenQuestion): PendingRow {
  const { id, key, asker, root, access, reason, scopes, approver, since, until } = question;
  const what = { root, path: key.path, access, rule: key.rule };
  return { id, ...asker, ...what, reason, scopes, approver, since, until, count };
}

export function grantRow(
  { id, asker, root, key, access, scope, session, given }: Grant,
  { until, state }: Pick<GrantRow, 'until' | 'state'>,
): GrantRow {
  const what = { root, path: key.path, access, rule: key.rule };
  return { id, ...asker, ...what, scope, session, since: new Date(given.wallMs).toISOString(), until, state };
}

export function refusalRow({ asker, root, key, access, count, since }: Refusal): RefusalRow {
  return { ...asker, root, path: key.path, access, rule: key.rule, count, since };
}

export function historyRow({ asker, time, event, id, ...rest }: ConsentEntry): HistoryRow {
  return { time, event, id, ...asker, ...rest };
}

export function shownQuestion(open: OpenQuestion): ShownConsent {
  const { key, written, rule }: Question = open.question;
  const { facts, identity } = key;
  return { pending: pendingRow(open), grant: null, facts, written, identity, file: rule.file, line: rule.line };
}

export function shownGrant(grant: Grant, row: GrantRow): ShownConsent {
  const { facts, identity } = grant.key;
  return { pending: null, grant: row, facts, written: null, identity, file: null, line: null };
}
