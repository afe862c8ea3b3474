// Step 7 of a decision: a rule asks, and what people have answered counts (docs/policy.md, "How it is decided").
//
// INVARIANT: a consent never gives more than the rule offers now that it was given under, whatever it once gave.

import { type Access, higherAccess, lowerAccess } from './access.ts';
import { type Answered, scopesOf } from './consent.ts';
import type { Decision, Offer } from './decision.ts';
import type { Basis } from './denial.ts';
import { deny } from './denial.ts';
import type { RootFacts } from './place.ts';
import type { Rule } from './rule.ts';
import { firstRule, refOf } from './rule-order.ts';
import type { Standing } from './standing.ts';

/** The rules that ask about a root. */
export interface Asking {
  readonly rules: readonly Rule[];
  /** Those of them of which each must be agreed to. */
  readonly mandatory: readonly Rule[];
  readonly cap: Access | undefined;
  readonly isSensitive: boolean;
}

interface Answerable {
  readonly offer: Offer;
  readonly answered: Answered | null;
}

interface Given {
  readonly rule: Rule;
  readonly access: Access;
  readonly why: string;
}

/** What at least one rule that asks comes to. */
export function decideAsked(standing: Standing, root: RootFacts, asking: Asking, basis: Basis): Decision {
  const all = answerables(standing, root, asking);
  const must = all.filter(({ offer }) => asking.mandatory.includes(offer.rule));
  const open = must.filter((one) => givenBy(one) === null);
  if (open.length > 0) return notGiven(open, open.filter(isRefused), basis);
  const given = must.length > 0 ? leastGiven(must) : mostGiven(all);
  if (given === null) {
    const refused = all.filter(isRefused);
    return notGiven(all, refused.length === all.length ? refused : [], basis);
  }
  return consented(given, must.length > 0 ? null : betterOffer(all, given.access), basis);
}

/** What asks add to what is allowed anyway: the difference was agreed to, or can be. */
export function withAsked(standing: Standing, root: RootFacts, asking: Asking, allowed: Decision): Decision {
  if (asking.rules.length === 0 || allowed.access !== 'read-only') return allowed;
  const all = answerables(standing, root, asking).filter(({ offer }) => offer.access === 'read-write');
  const given = mostGiven(all);
  if (given?.access === 'read-write') return consented(given, null, allowed);
  return withOffer(allowed, betterOffer(all, 'read-only'));
}

function answerables({ peer, evidence, circumstances }: Standing, root: RootFacts, asking: Asking): Answerable[] {
  const { place } = root;
  return asking.rules.map((rule) => {
    const scopes = scopesOf(rule, asking.isSensitive);
    const offer = { rule, access: lowerAccess(rule.access, asking.cap) ?? rule.access, scopes };
    const { consents } = circumstances;
    if (consents === undefined || place === null) return { offer, answered: null };
    return { offer, answered: consents.answerTo({ peer, place, rule, scopes, policy: evidence.policy }) };
  });
}

function isRefused({ answered }: Answerable): boolean {
  return answered?.state === 'refused';
}

/** What it gives under its rule as it is now. */
function givenBy({ offer, answered }: Answerable): Given | null {
  if (answered?.state !== 'granted') return null;
  const access = lowerAccess(answered.access, offer.access) ?? answered.access;
  return { rule: offer.rule, access, why: answered.why };
}

function mostGiven(all: readonly Answerable[]): Given | null {
  const given = all.map(givenBy).filter((one) => one !== null);
  return firstOf(given, given.map(({ access }) => access).reduce(higherAccess, null as Access | null));
}

function leastGiven(all: readonly Answerable[]): Given | null {
  const given = all.map(givenBy).filter((one) => one !== null);
  return firstOf(given, given.map(({ access }) => access).reduce(lowerAccess, undefined as Access | undefined) ?? null);
}

function firstOf(given: readonly Given[], access: Access | null): Given | null {
  const those = given.filter((one) => one.access === access);
  const rule = firstRule(those.map((one) => one.rule));
  return those.find((one) => one.rule === rule) ?? null;
}

/** The best that nobody has answered, by the first rule (layer, id) that offers it. */
function bestOffer(all: readonly Answerable[]): Offer | null {
  const access = all.some(({ offer }) => offer.access === 'read-write') ? 'read-write' : 'read-only';
  const best = all.filter(({ offer }) => offer.access === access).map(({ offer }) => offer);
  const rule = firstRule(best.map((offer) => offer.rule));
  return best.find((offer) => offer.rule === rule) ?? null;
}

/** What could still be given beyond what is: offered, not refused, and not asked for already and given in part. */
function betterOffer(all: readonly Answerable[], access: Access): Offer | null {
  if (access === 'read-write') return null;
  return bestOffer(
    all.filter(({ offer, answered }) => {
      if (offer.access === 'read-only' || answered?.state === 'refused') return false;
      return answered === null || answered.asked === 'read-only';
    }),
  );
}

function notGiven(all: readonly Answerable[], refused: readonly Answerable[], basis: Basis): Decision {
  const no = firstRule(refused.map(({ offer }) => offer.rule));
  if (no !== null) {
    const answered = refused.find(({ offer }) => offer.rule === no)?.answered;
    return deny('refused', refOf(no), `rule "${no.id}" wants a person's consent: ${answered?.why ?? ''}`, basis);
  }
  const offer = bestOffer(all.filter((one) => !isRefused(one)));
  if (offer === null) throw new Error('INVARIANT: decideAsked() is asked about at least one rule');
  const why = `rule "${offer.rule.id}" wants a person's consent, and nobody has given it`;
  const rule = refOf(offer.rule);
  return withOffer({ effect: 'ask', kind: 'pending', access: null, askable: null, rule, why, ...basis }, offer);
}

function consented({ rule, access, why }: Given, better: Offer | null, { facts, missing }: Basis): Decision {
  const said = `rule "${rule.id}" wants a person's consent: ${why}`;
  const decision = { effect: 'allow', kind: 'consent', access, askable: null, rule: refOf(rule) } as const;
  return withOffer({ ...decision, why: said, facts, missing }, better);
}

function withOffer(decision: Decision, offer: Offer | null): Decision {
  return offer === null ? decision : { ...decision, askable: offer.access, offer };
}
