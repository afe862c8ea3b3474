// The whole authority of the program: policy + peer + root -> Decision. Pure, total, order-free (docs/policy.md, "How it is decided").
//
// Any matching deny -> deny; outside a ceiling -> deny; a denied or sensitive place inside -> withheld; a mandatory ask
// -> ask; any matching allow -> allow with the highest access, capped; any matching ask -> what a person has answered, else
// ask; otherwise deny.

import { type Access, lowerAccess } from './access.ts';
import { decideAsked, withAsked } from './asked.ts';
import { capOf } from './cap.ts';
import type { Decision } from './decision.ts';
import {
  type Basis,
  brokenProjectDenial,
  ceilingDenial,
  confinementDenial,
  deny,
  explicitDenial,
  projectDenial,
  wideDenial,
} from './denial.ts';
import { isOver, momentText } from './ending.ts';
import {
  anyCouldLieInside,
  anyCovers,
  type Evidence,
  type Forms,
  formsOfRoot,
  realForm,
  rulesAbout,
} from './evidence.ts';
import { matchPeer, type PeerMatch } from './match-peer.ts';
import { isSensitive, nestedIn } from './nested.ts';
import { factsOf, type Peer } from './peer.ts';
import type { RootFacts } from './place.ts';
import type { Effect, Rule, Target } from './rule.ts';
import { firstRule, refOf } from './rule-order.ts';
import { type Circumstances, type Standing, standingOf } from './standing.ts';

/** A rule that speaks of this root and counts for this peer. */
interface Candidate {
  readonly rule: Rule;
  readonly match: PeerMatch;
}

/** Decides about one root. Never throws. */
export function decide(evidence: Evidence, peer: Peer, root: RootFacts, circumstances: Circumstances): Decision {
  return decideFor(standingOf(evidence, peer, circumstances), root);
}

/** The same for one of many roots of a peer. */
export function decideFor(standing: Standing, root: RootFacts): Decision {
  const { evidence, circumstances, facts } = standing;
  if (standing.peer.observed === null) return unattested(standing.peer);
  const forms = formsOfRoot(root);
  const candidates = candidatesFor(standing, root);
  const missing = [...new Set(candidates.flatMap(({ match }) => match.missing))].sort();
  const basis = { facts, missing };
  const denial =
    explicitDenial(standing, forms, basis) ??
    wideDenial(evidence, realForm(root), basis) ??
    confinementDenial(standing, basis) ??
    projectDenial(evidence, forms, basis) ??
    brokenProjectDenial(root, basis) ??
    ceilingDenial(evidence, realForm(root), basis);
  if (denial !== null) return denial;

  const { withheld, carved } = nestedIn(standing, root, forms);
  if (withheld !== null) {
    return deny('nested', withheld.rule, `${withheld.why}${carveNote(root, circumstances)}`, basis);
  }
  const decision = decideGranted(standing, root, candidates, basis);
  if (decision.effect === 'deny' || carved.length === 0) return decision;
  return { ...decision, why: `${decision.why}, without ${carved.map((path) => `"${path}"`).join(' and ')}` };
}

/** Step 1: without facts about the peer nothing is decided but no. */
export function unattested(peer: Peer): Decision {
  const basis = { facts: factsOf(peer), missing: ['user'] };
  return deny('unattested', null, 'the kernel does not say who this peer is', basis);
}

/** Steps 5 to 8: what the allow and ask rules of this root give. */
function decideGranted(standing: Standing, root: RootFacts, candidates: readonly Candidate[], basis: Basis): Decision {
  const { evidence, peer, meets } = standing;
  const cap = capOf(evidence, root);
  const whole = candidates.filter(({ rule }) => !exceptedInside(evidence, rule, root));
  const counting = (effect: Effect): readonly Rule[] =>
    whole.map(({ rule }) => rule).filter((rule) => rule.effect === effect && meets(rule));
  const [allows, asks] = [counting('allow'), counting('ask')];
  const mandatory = asks.filter((rule) => rule.mandatory);
  const isSecret = isSensitive(evidence, root, formsOfRoot(root));
  const asking = { rules: asks, mandatory, cap, isSensitive: isSecret };

  // In a sensitive place and under a project file's `ask` an allow counts as an ask.
  const forced = isSecret || asksAlways(root) ? [...asks, ...allows] : mandatory;
  if (forced.length > 0) return decideAsked(standing, root, { ...asking, rules: forced }, basis);
  if (allows.length > 0) return withAsked(standing, root, asking, allowed(allows, cap, basis));
  if (asks.length > 0) return decideAsked(standing, root, asking, basis);
  const split = firstRule(candidates.filter((one) => !whole.includes(one)).map(({ rule }) => rule));
  if (split !== null) {
    const why = `rule "${split.id}" excepts a place inside it, so it cannot grant it whole`;
    return deny('nested', refOf(split), why, basis);
  }
  return deny('implicit', null, endedWhy(standing, root) ?? implicitWhy(candidates, peer), basis);
}

/** Step 6: the highest access under the cap, by the first rule (layer, id) that gives it. */
function allowed(allows: readonly Rule[], cap: Access | undefined, basis: Basis): Decision {
  const capped = allows.map((rule) => ({ rule, access: lowerAccess(rule.access, cap) ?? rule.access }));
  const access = capped.some((one) => one.access === 'read-write') ? 'read-write' : 'read-only';
  const rule = firstRule(capped.filter((one) => one.access === access).map((one) => one.rule));
  if (rule === null) throw new Error('INVARIANT: allowed() is asked about at least one rule');
  const until = rule.untilMs === undefined ? '' : ` until ${momentText(rule.untilMs)}`;
  const why = `rule "${rule.id}" allows it${until}${rule.access === access ? '' : `, capped at ${access}`}`;
  return { effect: 'allow', kind: 'rule', access, askable: null, rule: refOf(rule), why, ...basis };
}

/** Does the project file say `ask`? */
function asksAlways({ project }: RootFacts): boolean {
  return project?.state === 'good' && project.ask;
}

function candidatesFor({ evidence, matchOf }: Standing, root: RootFacts): Candidate[] {
  return rulesAbout(evidence, root)
    .map((rule) => ({ rule, match: matchOf(rule) }))
    .filter(({ rule, match }) => match.match !== 'no' && !exceptedWhole(evidence, rule, root));
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
  if (rule.except.length === 0) return false;
  return rule.except.some((target) => names(target, root)) || anyCovers(exceptForms(evidence, rule), formsOfRoot(root));
}

function exceptedInside(evidence: Evidence, rule: Rule, root: RootFacts): boolean {
  return rule.except.length > 0 && anyCouldLieInside(exceptForms(evidence, rule), formsOfRoot(root));
}

function carveNote({ declaration: { nested, source } }: RootFacts, { carves }: Circumstances): string {
  if (nested !== 'carve') return '';
  const why = carves ? 'which cannot hold that out' : 'which only the guard of "rootsd run" could hold';
  return ` (${source.file}:${source.line} says "carve", ${why})`;
}

/** Where nothing but time has taken it away. */
function endedWhy({ evidence, peer }: Standing, root: RootFacts): string | null {
  const ended = rulesAbout(evidence, root).filter(
    (rule) => isOver(rule, evidence.nowMs) && matchPeer(rule, peer, evidence.policy).match === 'yes',
  );
  const first = firstRule(ended);
  return first?.untilMs === undefined ? null : `rule "${first.id}" allowed it until ${momentText(first.untilMs)}`;
}

function implicitWhy(candidates: readonly Candidate[], peer: Peer): string {
  const short = candidates.filter(({ rule, match }) => rule.effect === 'allow' && match.match === 'missing');
  const first = firstRule(short.map(({ rule }) => rule));
  if (first !== null) {
    const missing = short.find(({ rule }) => rule === first)?.match.missing ?? [];
    return `rule "${first.id}" would allow it, but a fact is missing: ${missing.join('; ')}`;
  }
  return peer.claimed.server === null ? 'no rule allows it to a nameless server' : 'no rule allows it';
}
