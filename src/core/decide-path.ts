import { type Circumstances, decide, unattested } from './decide.ts';
import type { Decision } from './decision.ts';
import { ceilingDenial, deniedFor, explicitDenial, projectDenial } from './denial.ts';
import { anyCovers, type Evidence, type Forms, formsOfRoot } from './evidence.ts';
import { factsOf, type Peer } from './peer.ts';
import type { RootFacts } from './place.ts';
import type { Effect } from './rule.ts';

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
  const basis = { facts: factsOf(peer), missing: [] };
  const real = forms.slice(-1);
  const containing = evidence.roots.filter((root) => anyCovers(formsOfRoot(root), real));
  const denial =
    explicitDenial(evidence, peer, deniedFor(evidence, peer), forms, basis) ??
    projectDenial(evidence, forms, basis) ??
    real.map((place) => ceilingDenial(evidence, place, basis)).find((decision) => decision !== null);
  if (denial !== undefined && denial !== null) return { decision: denial, root: containing[0] ?? null };

  const decided = containing.map((root) => ({ root, decision: decide(evidence, peer, root, circumstances) }));
  const [first, ...rest] = decided;
  if (first === undefined) {
    const why = 'no declared root contains it';
    const decision: Decision = {
      effect: 'deny',
      kind: 'implicit',
      access: null,
      askable: null,
      rule: null,
      why,
      ...basis,
    };
    return { decision, root: null };
  }
  return rest.reduce((best, next) => (rank(next.decision) > rank(best.decision) ? next : best), first);
}

const EFFECT_RANK: Readonly<Record<Effect, number>> = { deny: 0, ask: 1, allow: 2 };

function rank({ effect, access }: Decision): number {
  return EFFECT_RANK[effect] * 2 + (access === 'read-write' ? 1 : 0);
}
