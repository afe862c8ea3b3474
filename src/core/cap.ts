import { type Access, higherAccess, lowerAccess } from './access.ts';
import { anyCouldLieInside, anyCovers, type Evidence, formsOfRoot, realForm } from './evidence.ts';
import { covers } from './pattern.ts';
import type { RootFacts } from './place.ts';

/**
 * What nobody gets more than in this root: the caps of every declared root and project file around it, of every one inside
 * it (a server is told one access for a root, and only some have a guard: the wider one is told at the cap), and of the
 * ceilings.
 */
export function capOf(evidence: Evidence, root: RootFacts): Access | undefined {
  const forms = formsOfRoot(root);
  const near = [...evidence.capped.covering(forms), ...evidence.capped.inside(forms)];
  const caps: (Access | undefined)[] = near
    .filter((other) => anyCovers(other.forms, forms) || anyCouldLieInside(other.forms, forms))
    .map((other) => other.access);
  for (const { items } of evidence.ceilings) {
    const covering = items.filter(({ forms: outer }) => outer.some((pattern) => covers(pattern, realForm(root))));
    const highest = covering.map(({ item }) => item.access ?? 'read-write').reduce(higherAccess, null as Access | null);
    if (highest !== null) caps.push(highest);
  }
  return caps.reduce(lowerAccess, undefined);
}
