// The whole authority of the program: policy + peer + root -> Decision. Pure, total, order-free (DESIGN §4).
//
// Any matching deny -> deny; outside a ceiling -> deny; a denied or sensitive place inside -> withheld; a mandatory ask
// -> ask; any matching allow -> allow with the highest access, capped; any matching ask -> ask; otherwise deny.

import { type Access, lowerAccess } from './access.ts';
import { capOf } from './cap.ts';
import type { Decision } from './decision.ts';
import {
  type Basis,
  brokenProjectDenial,
  ceilingDenial,
  deniedFor,
  deny,
  explicitDenial,
  projectDenial,
  wideDenial,
} from './denial.ts';
import { anyCouldLieInside, anyCovers, type Evidence, type Forms, formsOfRoot, realForm } from './evidence.ts';
import { counts, matchPeer, type PeerMatch } from './match-peer.ts';
import { isSensitive, withheldFor } from './nested.ts';
import { factsOf, type Peer } from './peer.ts';
import type { RootFacts } from './place.ts';
import type { Rule, Target } from './rule.ts';
import { firstRule, refOf } from './rule-order.ts';

/** What else bears on a session's decisions. */
export interface Circumstances {
  /** Can something keep this session's server out of a place inside a root? Then `nested: carve` works. */
  readonly carves: boolean;
}

/** A rule that speaks of this root and counts for this peer. */
interface Candidate {
  readonly rule: Rule;
  readonly match: PeerMatch;
}

/** Decides about one root. Never throws. */
export function decide(evidence: Evidence, peer: Peer, root: RootFacts, circumstances: Circumstances): Decision {
  if (peer.observed === null) return unattested(peer);
  const forms = formsOfRoot(root);
  const denied = deniedFor(evidence, peer);
  const candidates = candidatesFor(evidence, peer, root);
  const missing = [...new Set(candidates.flatMap(({ match }) => match.missing))].sort();
  const basis = { facts: factsOf(peer), missing };
  const denial =
    explicitDenial(evidence, peer, denied, forms, basis) ??
    wideDenial(evidence, realForm(root), basis) ??
    projectDenial(evidence, forms, basis) ??
    brokenProjectDenial(root, basis) ??
    ceilingDenial(evidence, realForm(root), basis);
  if (denial !== null) return denial;

  const inside = withheldFor(evidence, denied, root, forms);
  const carved = inside?.carvable && root.declaration.nested === 'carve' && circumstances.carves;
  if (inside !== null && !carved) return deny('nested', inside.rule, `${inside.why}${carveNote(root)}`, basis);
  return decideGranted(evidence, root, candidates, { basis, peer });
}

/** Step 1: without facts about the peer nothing is decided but no. */
export function unattested(peer: Peer): Decision {
  const basis = { facts: factsOf(peer), missing: ['user'] };
  return deny('unattested', null, 'the kernel does not say who this peer is', basis);
}

/** Steps 5 to 8: what the allow and ask rules of this root give. */
function decideGranted(
  evidence: Evidence,
  root: RootFacts,
  candidates: readonly Candidate[],
  { basis, peer }: { readonly basis: Basis; readonly peer: Peer },
): Decision {
  const cap = capOf(evidence, root);
  const whole = candidates.filter(({ rule }) => !exceptedInside(evidence, rule, root));
  const allows = whole.filter(({ rule, match }) => rule.effect === 'allow' && counts(match.match, 'allow'));
  const asks = whole.filter(({ rule, match }) => rule.effect === 'ask' && counts(match.match, 'ask'));
  const forced = asksAlways(evidence, root) ? [...asks, ...allows] : asks.filter(({ rule }) => rule.mandatory);

  if (forced.length > 0) return pending(forced, cap, basis);
  if (allows.length > 0) return allowed(allows, asks, cap, basis);
  if (asks.length > 0) return pending(asks, cap, basis);
  const split = firstRule(candidates.filter((one) => !whole.includes(one)).map(({ rule }) => rule));
  if (split !== null) {
    const why = `rule "${split.id}" excepts a place inside it, so it cannot grant it whole`;
    return deny('nested', refOf(split), why, basis);
  }
  return deny('implicit', null, implicitWhy(candidates, peer), basis);
}

/** Step 6. Where an ask offers more than the allows do, the difference is askable. */
function allowed(
  allows: readonly Candidate[],
  asks: readonly Candidate[],
  cap: Access | undefined,
  basis: Basis,
): Decision {
  const { rule, access } = strongest(allows, cap);
  const more = asks.length > 0 && access === 'read-only' ? strongest(asks, cap).access : access;
  const why = `rule "${rule.id}" allows it${rule.access === access ? '' : `, capped at ${access}`}`;
  const askable = more === access ? null : more;
  return { effect: 'allow', kind: 'rule', access, askable, rule: refOf(rule), why, ...basis };
}

/** Step 7, as long as nobody has consented. */
function pending(asks: readonly Candidate[], cap: Access | undefined, basis: Basis): Decision {
  const { rule, access } = strongest(asks, cap);
  const why = `rule "${rule.id}" wants a person's consent, and nobody has given it`;
  return { effect: 'ask', kind: 'pending', access: null, askable: access, rule: refOf(rule), why, ...basis };
}

/** In a sensitive place and under a project file's `ask`, an allow counts as a mandatory ask. */
function asksAlways(evidence: Evidence, root: RootFacts): boolean {
  if (root.project?.state === 'good' && root.project.ask) return true;
  return isSensitive(evidence, root, formsOfRoot(root));
}

function candidatesFor(evidence: Evidence, peer: Peer, root: RootFacts): Candidate[] {
  return (evidence.grants.get(root.declaration.name) ?? [])
    .filter((rule) => rule.targets.some((target) => names(target, root)) && !exceptedWhole(evidence, rule, root))
    .map((rule) => ({ rule, match: matchPeer(rule, peer, evidence.policy) }))
    .filter(({ match }) => match.match !== 'no');
}

function names(target: Target, root: RootFacts): boolean {
  if (target.kind !== 'root' || target.root !== root.declaration.name) return false;
  return target.member === undefined || `${target.root}/${target.member}` === root.name;
}

function exceptForms(evidence: Evidence, rule: Rule): Forms {
  return rule.except.flatMap((target) => evidence.formsOf(target.kind === 'path' ? target.pattern : target.place));
}

/** A grant's exception takes the root out if it covers any form of it. */
function exceptedWhole(evidence: Evidence, rule: Rule, root: RootFacts): boolean {
  return rule.except.some((target) => names(target, root)) || anyCovers(exceptForms(evidence, rule), formsOfRoot(root));
}

function exceptedInside(evidence: Evidence, rule: Rule, root: RootFacts): boolean {
  return anyCouldLieInside(exceptForms(evidence, rule), formsOfRoot(root));
}

function carveNote(root: RootFacts): string {
  const { nested, source } = root.declaration;
  return nested === 'carve' ? ` (${source.file}:${source.line} says "carve", which nothing enforces here)` : '';
}

/** Of at least one candidate: the highest access under the cap, by the first rule (layer, id) that gives it. */
function strongest(candidates: readonly Candidate[], cap: Access | undefined): { rule: Rule; access: Access } {
  const capped = candidates.map(({ rule }) => ({ rule, access: lowerAccess(rule.access, cap) ?? rule.access }));
  const access = capped.some((one) => one.access === 'read-write') ? 'read-write' : 'read-only';
  const rule = firstRule(capped.filter((one) => one.access === access).map((one) => one.rule));
  if (rule === null) throw new Error('INVARIANT: strongest() is asked about at least one candidate');
  return { rule, access };
}

function implicitWhy(candidates: readonly Candidate[], peer: Peer): string {
  const short = candidates.find(({ rule, match }) => rule.effect === 'allow' && match.match === 'missing');
  if (short !== undefined) {
    return `rule "${short.rule.id}" would allow it, but a fact is missing: ${short.match.missing.join('; ')}`;
  }
  return peer.claimed.server === null ? 'no rule allows it to a nameless server' : 'no rule allows it';
}
