// A place inside a root that must not be exposed with it (docs/policy.md, "How it is decided", step 4).

import type { RuleRef } from './decision.ts';
import { anyCouldLieInside, anyCovers, type DeniedPlace, type Evidence, type Forms, realForm } from './evidence.ts';
import { couldLieInside, hasStar, type PathPattern, patternPath } from './pattern.ts';
import type { RootFacts } from './place.ts';
import type { Source } from './rule.ts';
import { firstRule, refOf } from './rule-order.ts';
import type { Standing } from './standing.ts';

export interface Withheld {
  readonly rule: RuleRef | null;
  readonly why: string;
}

/** A root with something inside that must not be exposed with it is withheld, or that is cut out of it. */
export interface Nested {
  readonly withheld: Withheld | null;
  /** Absolute paths, in every spelling that is known. */
  readonly carved: readonly string[];
}

type DeniedByProject = { readonly pattern: PathPattern; readonly source: Source };

/**
 * What lies, or could lie, inside the root. With `nested: carve` it is cut out where the guard can hold that: single places,
 * denied by the root's own layer or its project file. A credential store, a star, or a deny of another layer withholds.
 */
export function nestedIn(standing: Standing, root: RootFacts, forms: Forms): Nested {
  const { evidence, meets, circumstances } = standing;
  const denied = evidence.denied
    .inside(forms)
    .filter((place) => anyCouldLieInside(place.forms, forms) && meets(place.rule));
  const projects = evidence.deniedByProjects.inside(forms).filter(({ pattern }) => anyCouldLieInside([pattern], forms));
  const carves = root.declaration.nested === 'carve' && circumstances.carves;
  const isHard = (place: DeniedPlace): boolean =>
    place.rule.source.layer !== root.declaration.source.layer || place.forms.some((form) => hasStar(form));
  const withheld =
    withheldByRule(carves ? denied.filter(isHard) : denied) ??
    withheldBySecret(evidence, forms) ??
    withheldByProject(carves ? projects.filter(({ pattern }) => hasStar(pattern)) : projects);
  if (withheld !== null) return { withheld, carved: [] };
  const inside = [...denied.flatMap((place) => place.forms), ...projects.map(({ pattern }) => pattern)];
  return { withheld: null, carved: [...new Set(inside.flatMap((place) => carvedForms(place, root, forms)))].sort() };
}

/** A place as it is spelt, and below where the root really is: what is denied need not exist yet. */
function carvedForms(place: PathPattern, root: RootFacts, forms: Forms): readonly string[] {
  return forms
    .filter((form) => couldLieInside(place, form))
    .flatMap((form) => {
      const rest = place.components.slice(form.components.length);
      return [patternPath(place), patternPath({ ...place, components: [...realForm(root).components, ...rest] })];
    });
}

/** Is the root itself a sensitive place, or inside one? */
export function isSensitive(evidence: Evidence, root: RootFacts, forms: Forms): boolean {
  return (
    root.declaration.sensitive || evidence.sensitive.covering(forms).some((place) => anyCovers(place.forms, forms))
  );
}

function withheldByRule(inside: readonly DeniedPlace[]): Withheld | null {
  const rule = firstRule(inside.map((place) => place.rule));
  if (rule === null) return null;
  const texts = inside.filter((place) => place.rule === rule).map((place) => place.text);
  return { rule: refOf(rule), why: `"${texts.sort()[0]}", denied by rule "${rule.id}", lies inside it` };
}

function withheldBySecret(evidence: Evidence, forms: Forms): Withheld | null {
  const inside = evidence.sensitive.inside(forms).filter((place) => anyCouldLieInside(place.forms, forms));
  const [first] = inside.map(({ text }) => text).sort();
  if (first === undefined) return null;
  return { rule: null, why: `the sensitive place "${first}" lies inside it` };
}

function withheldByProject([found]: readonly DeniedByProject[]): Withheld | null {
  if (found === undefined) return null;
  const where = `${found.source.file}:${found.source.line}`;
  return { rule: null, why: `"${patternPath(found.pattern)}", denied by ${where}, lies inside it` };
}
