// The half of a decision that says no: matching denies and ceilings (docs/policy.md, "How it is decided", steps 2 and 3).

import type { Decision, Kind, RuleRef } from './decision.ts';
import { denies, type Evidence, type Forms } from './evidence.ts';
import { covers, type PathPattern } from './pattern.ts';
import type { RootFacts } from './place.ts';
import { bySource, firstRule, refOf } from './rule-order.ts';
import type { Standing } from './standing.ts';

/** What every decision about this peer says of it. */
export type Basis = Pick<Decision, 'facts' | 'missing'>;

export function deny(kind: Kind, rule: RuleRef | null, why: string, basis: Basis): Decision {
  return { effect: 'deny', kind, access: null, askable: null, rule, why, ...basis };
}

/** Step 2: the deny, of any layer, that covers any form of the place; null if none does. */
export function explicitDenial(standing: Standing, forms: Forms, basis: Basis): Decision | null {
  const denied = standing.evidence.denied.covering(forms).filter((place) => denies(place, forms));
  const first = firstRule(denied.map(({ rule }) => rule).filter((rule) => standing.meets(rule)));
  if (first === null) return null;
  const { missing } = standing.matchOf(first);
  const reason = first.reason === undefined ? '' : `: ${first.reason}`;
  return deny('explicit', refOf(first), `rule "${first.id}" denies it${reason}`, { ...basis, missing });
}

/** A root that is the whole filesystem, a home or what holds homes: a policy cannot write it, but a link can lead there. */
export function wideDenial(evidence: Evidence, place: PathPattern, basis: Basis): Decision | null {
  const wide = evidence.policy.neverRoots.find((never) => covers(never, place) && covers(place, never));
  if (wide === undefined) return null;
  return deny('explicit', null, `it leads to "${wide.text}", which is never a root itself`, basis);
}

/** Of a server that must be confined: nothing confines yet, so nothing is exposed. */
export function confinementDenial({ evidence, peer }: Standing, basis: Basis): Decision | null {
  const entry = peer.claimed.server === null ? undefined : evidence.policy.servers.get(peer.claimed.server);
  if (entry?.confine !== 'required') return null;
  const { file, line } = entry.source;
  return deny('explicit', null, `${file}:${line} requires confinement, which cannot be given yet`, basis);
}

/** A place that a project file denies. */
export function projectDenial(evidence: Evidence, forms: Forms, basis: Basis): Decision | null {
  const found = evidence.deniedByProjects
    .covering(forms)
    .find(({ pattern }) => forms.some((form) => covers(pattern, form)));
  return found === undefined
    ? null
    : deny('project', null, `denied by ${found.source.file}:${found.source.line}`, basis);
}

/** A broken project file withholds its root and touches nothing else. */
export function brokenProjectDenial({ project }: RootFacts, basis: Basis): Decision | null {
  if (project?.state !== 'broken') return null;
  return deny('project', null, `its project file "${project.file}" is broken: ${project.why}`, basis);
}

/** Step 3: every ceiling must cover the place. Returns where the first one stands that does not. */
export function ceilingDenial(evidence: Evidence, place: PathPattern, basis: Basis): Decision | null {
  const violated = evidence.ceilings
    .filter(({ items }) => !items.some(({ forms }) => forms.some((outer) => covers(outer, place))))
    .map(({ ceiling }) => ceiling.source)
    .sort(bySource)[0];
  if (violated === undefined) return null;
  return deny('ceiling', null, `outside the ceiling of ${violated.file}:${violated.line}`, basis);
}
