// What control.sock answers about consents: `rootsd/consent/*`.

import type { Agent } from '../ask/agents.ts';
import type { Access } from '../core/access.ts';
import { RootsError } from '../core/errors.ts';
import type { Grant } from '../core/grant.ts';
import type { Policy } from '../core/policy.ts';
import { METHOD } from '../core/protocol.ts';
import { type Answer, type Given, readAnswer as givenBy, type Question } from '../core/question.ts';
import type { Rule } from '../core/rule.ts';
import type { ControlConnection, ControlHandlers } from '../socket/control-session.ts';
import type { PeerFacts } from '../socket/peer-facts.ts';
import type { Consent } from './consent.ts';
import {
  type ConsentReply,
  type GrantRow,
  grantRow,
  historyRow,
  pendingRow,
  type RefusalRow,
  refusalRow,
  type ShownConsent,
  shownGrant,
  shownQuestion,
} from './consent-rows.ts';
import { invalidParams, parseParams } from './control-params.ts';
import { type Launchers, whyNoPerson } from './person-behind.ts';

export interface ConsentControlled {
  readonly consent: Consent;
  policy(): Policy;
  launchers(): Launchers;
  /** Resolves when what has changed by now has been decided anew and told. */
  refreshed(): Promise<void>;
}

export interface ConsentExport extends Omit<ConsentReply, 'pending'> {
  readonly refusals: readonly RefusalRow[];
}

/** What an answer has come to; null: nothing is given. */
export interface AnswerReply {
  readonly given: Given | null;
}

export interface RevokeReply {
  readonly grants: readonly GrantRow[];
  /** false: the next start may find them still, unless it can be written down by then. */
  readonly kept: boolean;
}

export interface ResetReply {
  readonly refusals: readonly RefusalRow[];
}

type Caller = readonly [caller: PeerFacts, connection: ControlConnection];

const ANSWER = { id: 'string', scope: 'string', access: 'string', note: 'string', code: 'string' } as const;

/** The handlers of consents. */
export function consentHandlers(daemon: ConsentControlled): ControlHandlers {
  const { consent } = daemon;
  const { grants, questions } = consent;
  /** Those of agents. */
  const told = new WeakSet<ControlConnection>();
  const answer = async (says: Answer['says'], params: unknown, ...by: Caller): Promise<AnswerReply> => {
    const { id, code, ...rest } = parseParams(params, ANSWER);
    const [caller, connection] = by;
    const channel = (told.has(connection) ? consent.agents : null) ?? consent.commandLine;
    // Who guesses at ids has no processes looked at.
    const { question } = channel.mustBeOpen(idOf(id));
    const wanted = readAnswer(says, rest);
    // What does not count anyway nobody is asked about.
    givenBy(question, wanted, { channel: channel.name, uid: caller.uid ?? -1 });
    const uid = personAnswering(daemon, caller, { question, answer: wanted, code });
    const given = await channel.answer(question.id, wanted, uid);
    await daemon.refreshed();
    return { given };
  };
  return {
    [METHOD.consentList]: async (): Promise<ConsentReply> => ({
      pending: questions.open.map(pendingRow),
      grants: rowsOf(daemon, grants.all),
      history: grants.history.map(historyRow),
    }),
    [METHOD.consentShow]: async (params): Promise<ShownConsent> => {
      const id = idOf(parseParams(params, { id: 'string' }).id);
      const open = questions.open.find(({ question }) => question.id === id);
      if (open !== undefined) return shownQuestion(open);
      const grant = grants.all.find((one) => one.id === id);
      if (grant === undefined) throw new RootsError('CONSENT_UNKNOWN', { what: `"${id}"` });
      return shownGrant(grant, rowOf(daemon, grant, ruleById(daemon).get(grant.key.rule)));
    },
    [METHOD.consentApprove]: (params, ...by) => answer('yes', params, ...by),
    [METHOD.consentDeny]: (params, ...by) => answer('no', params, ...by),
    [METHOD.consentWatch]: async (params, caller, connection): Promise<object> => {
      const { fallback = false } = parseParams(params, { fallback: 'boolean' });
      if (!told.has(connection)) joinAgents(daemon, { caller, connection, isFallback: fallback === true });
      told.add(connection);
      return {};
    },
    [METHOD.consentRevoke]: async (params, caller): Promise<RevokeReply> => {
      const isMeant = readSelection(params);
      // Whoever may connect may take back: that only narrows.
      const answerer = { channel: consent.commandLine.name, uid: caller.uid ?? -1 };
      const revoked = await grants.revoke(isMeant, answerer);
      await daemon.refreshed();
      const rows = rowsOf(daemon, revoked.grants).map((row) => ({ ...row, state: 'revoked' as const }));
      return { grants: rows, kept: revoked.isKept };
    },
    [METHOD.consentReset]: async (params, caller): Promise<ResetReply> => {
      parseParams(params, {});
      const answerer = { channel: consent.commandLine.name, uid: personBehind(daemon, caller) };
      const refusals = await grants.reset(answerer);
      await daemon.refreshed();
      return { refusals: refusals.map(refusalRow) };
    },
    [METHOD.consentExport]: async (): Promise<ConsentExport> => ({
      grants: rowsOf(daemon, grants.all),
      refusals: grants.refusals.map(refusalRow),
      history: grants.history.map(historyRow),
    }),
  };
}

interface Joining {
  readonly caller: PeerFacts;
  readonly connection: ControlConnection;
  readonly isFallback: boolean;
}

/** An MCP server that would be asked could keep a person from being asked: who may not answer is told nothing. */
function joinAgents(daemon: ConsentControlled, { caller, connection, isFallback }: Joining): void {
  const { agents } = daemon.consent;
  if (agents === null) throw new RootsError('CONSENT_CHANNEL_OFF', { channel: 'agent' });
  const agent: Agent = {
    uid: personBehind(daemon, caller),
    isFallback,
    asked: (question) => connection.notify(METHOD.consentAsked, { question }),
    withdrawn: ({ id }, why) => connection.notify(METHOD.consentWithdrawn, { id, why }),
  };
  agents.join(agent);
  connection.keepTold(() => agents.leave(agent));
}

interface Answering {
  readonly question: Question;
  readonly answer: Answer;
  /** What was typed at the terminal; undefined: nothing was. */
  readonly code: unknown;
}

/**
 * The same of an answer, which is asked again at the controlling terminal, if there is one: throws CONSENT_CODE where a code
 * is shown there.
 */
function personAnswering(daemon: ConsentControlled, caller: PeerFacts, { question, answer, code }: Answering): number {
  const { terminalCodes } = daemon.consent;
  const launchers = daemon.launchers();
  const why = whyNoPerson(() => caller.confirm(), launchers);
  if (why === null) return caller.uid ?? -1;
  const doubted = { question, answer, observed: caller.confirm(), launchers };
  if (typeof code === 'string') {
    if (terminalCodes.take(doubted, code)) return caller.uid ?? -1;
    throw new RootsError('CONSENT_NEEDS_TERMINAL', { what: 'the code is another one, or does not count any more' });
  }
  throw new RootsError(terminalCodes.show(doubted) ? 'CONSENT_CODE' : 'CONSENT_NEEDS_TERMINAL', { what: why });
}

/** The uid that answers. Throws a RootsError CONSENT_NEEDS_TERMINAL where an MCP server may be what answers. */
function personBehind(daemon: ConsentControlled, caller: PeerFacts): number {
  const why = whyNoPerson(() => caller.confirm(), daemon.launchers());
  if (why !== null) throw new RootsError('CONSENT_NEEDS_TERMINAL', { what: why });
  return caller.uid ?? -1;
}

function rowsOf(daemon: ConsentControlled, grants: readonly Grant[]): readonly GrantRow[] {
  const rules = ruleById(daemon);
  return grants.map((grant) => rowOf(daemon, grant, rules.get(grant.key.rule)));
}

function rowOf(daemon: ConsentControlled, grant: Grant, rule: Rule | undefined): GrantRow {
  const { consent } = daemon;
  const left = consent.grants.leftMs(grant);
  const isInForce = rule !== undefined && consent.grants.isUnder(grant, rule, daemon.policy());
  const until = left === null ? null : new Date(consent.now() + left).toISOString();
  return grantRow(grant, { until, state: isInForce ? 'holds' : 'sleeps' });
}

function ruleById(daemon: ConsentControlled): ReadonlyMap<string, Rule> {
  return new Map(daemon.policy().rules.map((rule) => [rule.id, rule]));
}

function readAnswer(says: Answer['says'], { scope, access, note }: Readonly<Record<string, unknown>>): Answer {
  if (access !== undefined && access !== 'read-only' && access !== 'read-write') {
    throw invalidParams('parameter "access" must be "read-only" or "read-write"');
  }
  if (says === 'no' && (scope !== undefined || access !== undefined)) {
    throw invalidParams('who denies gives no scope and no access');
  }
  return {
    says,
    ...(scope === undefined ? {} : { scope: scope as string }),
    ...(access === undefined ? {} : { access: access as Access }),
    ...(note === undefined ? {} : { note: note as string }),
  };
}

/** Exactly one of: all, a grant, those of a server, those of a root. */
function readSelection(params: unknown): (grant: Grant) => boolean {
  const given = parseParams(params, { all: 'boolean', id: 'string', server: 'string', root: 'string' });
  const [[name, value] = [], ...more] = Object.entries(given).filter(([, one]) => one !== false);
  if (name === undefined || more.length > 0) throw invalidParams('give one of "all", "id", "server" and "root"');
  if (name === 'id') return ({ id }) => id === value;
  if (name === 'server') return ({ asker }) => asker.server === value;
  if (name === 'root') return ({ root, key }) => root === value || key.path === value;
  return () => true;
}

function idOf(id: unknown): string {
  if (typeof id !== 'string') throw invalidParams('parameter "id" is missing');
  return id;
}
