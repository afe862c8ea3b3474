// The answers of `explain` and `roots`: the same from the daemon (what is in force) and from the files.

import type { Access } from '../core/access.ts';
import { type Catalogue, knownServerFor } from '../core/catalogue.ts';
import type { Consents } from '../core/consent.ts';
import { decide, decideFor } from '../core/decide.ts';
import { decidePath, type PathDecision } from '../core/decide-path.ts';
import type { Decision } from '../core/decision.ts';
import { deny } from '../core/denial.ts';
import { RootsError } from '../core/errors.ts';
import type { Evidence } from '../core/evidence.ts';
import { toFileUri } from '../core/path.ts';
import { ANY, literalPattern, patternPath } from '../core/pattern.ts';
import { factsOf, type Peer, type User, userOf } from '../core/peer.ts';
import { parseRootName, type RootFacts } from '../core/place.ts';
import type { Policy } from '../core/policy.ts';
import { ENDPOINT_NAME, type WireViewEntry, wireView } from '../core/protocol.ts';
import { parseUser } from '../core/rule.ts';
import { writtenRoot } from '../core/run-tests.ts';
import { type Circumstances, circumstancesOf, standingOf } from '../core/standing.ts';
import { buildView } from '../core/view.ts';
import type { Leads } from '../disk/path-look.ts';
import { resolvePath } from '../disk/resolve.ts';
import { hintFor, nearestOf } from '../policy/nearest.ts';
import { channelText, unenforcedFor, warningsFor } from './explain-channel.ts';

export type AnswerSource = 'daemon' | 'files';

/** Who is asked about, as on the command line. */
export interface Question {
  readonly server?: string;
  readonly claims?: string;
  readonly host?: string;
  readonly user?: string;
  /** A root's name, or an absolute path. */
  readonly target?: string;
}

export interface ExplainedDecision {
  readonly source: AnswerSource;
  readonly effect: Decision['effect'];
  readonly kind: Decision['kind'];
  readonly access: Access | null;
  readonly askable: Access | null;
  readonly root: {
    readonly name: string;
    readonly path: string;
    readonly uri: string | null;
    readonly available: boolean;
  } | null;
  readonly rule: Decision['rule'];
  readonly why: string;
  readonly facts: readonly string[];
  readonly missing: readonly string[];
}

export interface ExplainedServer {
  readonly source: AnswerSource;
  readonly server: string | null;
  /** What carries the boundary to it. */
  readonly channel: string;
  /** What to know of it, in sentences. */
  readonly warnings: readonly string[];
  /** What nothing enforces for this server, in sentences. */
  readonly unenforced: readonly string[];
  readonly decisions: readonly ExplainedDecision[];
}

export interface ExplainedRoots {
  readonly source: AnswerSource;
  readonly roots: readonly { readonly uri: string; readonly name: string; readonly access: Access }[];
  readonly view: readonly WireViewEntry[];
  /** About the question, in sentences. */
  readonly warnings: readonly string[];
}

/** Who answers, for whom, and what is known of servers. */
export interface ExplainContext {
  readonly source: AnswerSource;
  readonly own: User;
  /** What people have answered to servers like this peer; absent: nobody knows. */
  readonly consentsOf?: (peer: Peer) => Consents;
  readonly catalogue: Catalogue;
}

/** Explains one root or path. `leads`: where the path does, if it has been looked at. Throws RootsError USAGE for a root that no policy declares. */
export function explainTarget(
  evidence: Evidence,
  question: Question & { readonly target: string },
  context: Omit<ExplainContext, 'catalogue'> & { readonly leads?: Leads },
): ExplainedDecision {
  const { source, own, leads } = context;
  const peer = peerOf(question, own);
  const circumstances = circumstancesFor(evidence, peer, context);
  const { target } = question;
  if (target.startsWith('/')) {
    const { decision, root } = decideTarget(evidence, peer, {
      target,
      circumstances,
      leads: leads ?? resolvePath(target),
    });
    return explained(source, decision, root);
  }
  const root = findRoot(evidence, target);
  return explained(source, decide(evidence, peer, root, circumstances), root);
}

/** A path that cannot be resolved is denied, by the rule that denies it as it is written where there is one. */
function decideTarget(
  evidence: Evidence,
  peer: Peer,
  {
    target,
    leads,
    circumstances,
  }: { readonly target: string; readonly leads: Leads; readonly circumstances: Circumstances },
): PathDecision {
  const written = literalPattern(target);
  if (leads.ok) return decidePath(evidence, peer, [written, literalPattern(leads.path)], circumstances);
  const asWritten = decidePath(evidence, peer, [written], circumstances);
  if (asWritten.decision.effect === 'deny' && asWritten.decision.kind !== 'implicit') return asWritten;
  const basis = { facts: factsOf(peer), missing: [] };
  return { decision: deny('implicit', null, `it cannot be resolved: it ${leads.why}`, basis), root: null };
}

/** Explains every root for one server, and what stays open. */
export function explainServer(evidence: Evidence, question: Question, context: ExplainContext): ExplainedServer {
  const { source, own, catalogue } = context;
  const peer = peerOf(question, own);
  const { server } = peer.claimed;
  const entry = server === null ? undefined : evidence.policy.servers.get(server);
  const described = {
    known: knownServerFor(catalogue, entry?.selectors.command ?? []),
    entry,
    isEndpoint: server === ENDPOINT_NAME && entry?.selectors.command === undefined,
  };
  const standing = standingOf(evidence, peer, circumstancesFor(evidence, peer, context));
  const decisions = evidence.roots.map((root) => explained(source, decideFor(standing, root), root));
  const told = decisions.filter(({ effect }) => effect === 'allow');
  const isReadOnlyTold = told.some(({ access }) => access === 'read-only');
  return {
    source,
    server,
    channel: channelText(described),
    warnings: [...strangerWarnings(evidence.policy, server), ...warningsFor(described)],
    unenforced: unenforcedFor(described, { isReadOnlyTold }),
    decisions,
  };
}

/** The list that a server is told, and every root with its decision. */
export function explainRoots(
  evidence: Evidence,
  question: Question,
  context: Omit<ExplainContext, 'catalogue'>,
): ExplainedRoots {
  const { source, own } = context;
  const peer = peerOf(question, own);
  const view = buildView(evidence, peer, circumstancesFor(evidence, peer, context));
  const roots = view.told.map(({ uri, title, access }) => ({ uri, name: title, access }));
  const entries = wireView(view);
  const isPending = source === 'daemon' && entries.some(({ kind }) => kind === 'pending');
  const warnings = [...strangerWarnings(evidence.policy, peer.claimed.server), ...(isPending ? [GIVEN] : [])];
  return { source, roots, view: entries, warnings };
}

function circumstancesFor(
  evidence: Evidence,
  peer: Peer,
  { consentsOf }: Pick<ExplainContext, 'consentsOf'>,
): Circumstances {
  const circumstances = circumstancesOf(evidence, peer);
  return consentsOf === undefined ? circumstances : { ...circumstances, consents: consentsOf(peer) };
}

/** The server that was probably meant, where no policy names this one: it need not be declared, but may be a slip. */
export function nearServer(policy: Policy, server: string): string | undefined {
  const named = namedServers(policy);
  return named.has(server) ? undefined : nearestOf(server, named);
}

function namedServers(policy: Policy): ReadonlySet<string> {
  return new Set([...policy.servers.keys(), ...policy.rules.flatMap(({ servers = [] }) => servers)]);
}

function strangerWarnings(policy: Policy, server: string | null): readonly string[] {
  if (server === null || server === ENDPOINT_NAME || namedServers(policy).has(server)) return [];
  const near = nearServer(policy, server);
  return [`No policy names a server "${server}"${near === undefined ? '' : `: did you mean "${near}"?`}`];
}

function explained(source: AnswerSource, decision: Decision, root: RootFacts | null): ExplainedDecision {
  const { effect, kind, access, askable, rule, why, facts, missing } = decision;
  const told = [why, ...remarksOn(source, decision, root)].join('; ');
  return { source, effect, kind, access, askable, root: rootOf(root), rule, why: told, facts, missing };
}

function remarksOn(source: AnswerSource, { effect, kind }: Decision, root: RootFacts | null): readonly string[] {
  if (effect === 'allow' && root !== null && !root.available) return [`not told now: ${root.unavailable}`];
  // Of a name alone it cannot be said what one session of it was given.
  return source === 'daemon' && kind === 'pending' ? ['what running servers were given: rootsd consent list'] : [];
}

const GIVEN = 'What running servers of this name were given beside that: "rootsd consent list"';

function rootOf(root: RootFacts | null): ExplainedDecision['root'] {
  if (root === null) return null;
  const path = root.place?.path ?? patternPath(root.written);
  const uri = root.place === null ? null : toFileUri(root.place.path);
  return { name: root.name, path, uri, available: root.available };
}

function findRoot(evidence: Evidence, name: string): RootFacts {
  const found = evidence.roots.find((root) => root.name === name);
  if (found !== undefined) return found;
  const { name: base, hasMember, member } = parseRootName(name);
  const declaration = evidence.policy.roots.find((root) => root.name === base);
  if (declaration === undefined) {
    const names = evidence.policy.roots.map((root) => root.name);
    throw new RootsError(
      'USAGE',
      { what: `Cannot explain "${name}": no policy declares a root of this name` },
      {
        hint: hintFor(name, names, 'No policy declares a root'),
      },
    );
  }
  const isPattern = declaration.path.components.at(-1) === ANY;
  if (hasMember && (!isPattern || (member !== undefined && !isName(member)))) {
    throw new RootsError('USAGE', { what: `Cannot explain "${name}": root "${base}" has no member of this name` });
  }
  const written = writtenRoot(declaration, member);
  return { ...written, available: false, unavailable: 'there is no such directory' };
}

/** Could it be the name of an entry of a directory? */
function isName(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !text.includes('/');
}

function peerOf({ server, claims, host, user }: Question, own: User): Peer {
  return {
    observed: { pid: process.pid, user: user === undefined ? own : userNamed(user, own) },
    claimed: { server: server ?? claims ?? null, host: host ?? null },
    class: 'claimed',
    fulfils: { server: server !== undefined, host: true },
  };
}

function userNamed(text: string, own: User): User {
  const selector = parseUser(text);
  if (selector === null) {
    throw new RootsError('USAGE', { what: `Cannot read user "${text}": it must be a login name, "uid:N" or "%group"` });
  }
  if (text === own.name || text === `uid:${own.uid}`) return own;
  return userOf(selector);
}
