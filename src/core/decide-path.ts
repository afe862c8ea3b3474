import { decideFor, unattested } from './decide.ts';
import type { Decision } from './decision.ts';
import { ceilingDenial, confinementDenial, deny, explicitDenial, projectDenial } from './denial.ts';
import { anyCovers, type Evidence, type Forms, formsOfRoot } from './evidence.ts';
import type { Peer } from './peer.ts';
import type { RootFacts } from './place.ts';
import type { Effect } from './rule.ts';
import { type Circumstances, standingOf } from './standing.ts';

export interface PathDecision {
  readonly decision: Decision;
  /** The root that the decision is about; null where no declared root contains the path. */
  readonly root: RootFacts | null;
}

/**
 * Decides about a path: denied places first, then the best of the roots that contain it.
 *
 * `forms`: the path as written and last, where it is known, its real form. Denies look at all forms, containment and
 * ceilings at the last one only: a link inside a root does not bring its target into the root.
 */
export function decidePath(evidence: Evidence, peer: Peer, forms: Forms, circumstances: Circumstances): PathDecision {
  if (peer.observed === null) return { decision: unattested(peer), root: null };
  const standing = standingOf(evidence, peer, circumstances);
  const basis = { facts: standing.facts, missing: [] };
  const real = forms.slice(-1);
  const containing = evidence.roots.filter((root) => anyCovers(formsOfRoot(root), real));
  const denial =
    explicitDenial(standing, forms, basis) ??
    confinementDenial(standing, basis) ??
    projectDenial(evidence, forms, basis) ??
    real.map((place) => ceilingDenial(evidence, place, basis)).find((decision) => decision !== null);
  if (denial !== undefined && denial !== null) return { decision: denial, root: containing[0] ?? null };

  const [first, ...rest] = containing.map((root) => ({ root, decision: decideFor(standing, root) }));
  if (first === undefined) {
    return { decision: deny('implicit', null, 'no declared root contains it', basis), root: null };
  }
  return rest.reduce((best, next) => (rank(next.decision) > rank(best.decision) ? next : best), first);
}

const EFFECT_RANK: Readonly<Record<Effect, number>> = { deny: 0, ask: 1, allow: 2 };

function rank({ effect, access }: Decision): number {
  return EFFECT_RANK[effect] * 2 + (access === 'read-write' ? 1 : 0);
}
