// A place inside a root that must not be exposed with it (docs/policy.md, "How it is decided", step 4).

import type { RuleRef } from './decision.ts';
import { anyCouldLieInside, anyCovers, type Evidence, type Forms } from './evidence.ts';
import { patternPath } from './pattern.ts';
import type { RootFacts } from './place.ts';
import { firstRule, refOf } from './rule-order.ts';
import type { Standing } from './standing.ts';

export interface Withheld {
  readonly rule: RuleRef | null;
  readonly why: string;
  /** May `nested: carve` help? A guard is enough for denies of the root's own layer and of its project file. */
  readonly carvable: boolean;
}

/** A denied or sensitive place that lies, or could lie, inside the root; null if there is none. */
export function withheldFor(standing: Standing, root: RootFacts, forms: Forms): Withheld | null {
  const { evidence } = standing;
  return (
    withheldByRule(standing, root, forms) ?? withheldBySecret(evidence, forms) ?? withheldByProject(evidence, forms)
  );
}

/** Is the root itself a sensitive place, or inside one? */
export function isSensitive(evidence: Evidence, root: RootFacts, forms: Forms): boolean {
  return (
    root.declaration.sensitive || evidence.sensitive.covering(forms).some((place) => anyCovers(place.forms, forms))
  );
}

function withheldByRule({ evidence, meets }: Standing, root: RootFacts, forms: Forms): Withheld | null {
  const inside = evidence.denied
    .inside(forms)
    .filter((place) => anyCouldLieInside(place.forms, forms) && meets(place.rule));
  const rule = firstRule(inside.map((place) => place.rule));
  if (rule === null) return null;
  const texts = inside.filter((place) => place.rule === rule).map((place) => place.text);
  const carvable = inside.every((place) => place.rule.source.layer === root.declaration.source.layer);
  return { rule: refOf(rule), why: `"${texts.sort()[0]}", denied by rule "${rule.id}", lies inside it`, carvable };
}

function withheldBySecret(evidence: Evidence, forms: Forms): Withheld | null {
  const inside = evidence.sensitive.inside(forms).filter((place) => anyCouldLieInside(place.forms, forms));
  const [first] = inside.map(({ text }) => text).sort();
  if (first === undefined) return null;
  return { rule: null, why: `the sensitive place "${first}" lies inside it`, carvable: false };
}

function withheldByProject(evidence: Evidence, forms: Forms): Withheld | null {
  const found = evidence.deniedByProjects.inside(forms).find(({ pattern }) => anyCouldLieInside([pattern], forms));
  if (found === undefined) return null;
  const where = `${found.source.file}:${found.source.line}`;
  return { rule: null, why: `"${patternPath(found.pattern)}", denied by ${where}, lies inside it`, carvable: true };
}
