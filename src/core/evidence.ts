// What decisions are made from: the policy put together with what the disk says, prepared once for all peers.
// "Form" = one of the spellings of a place: as written, and resolved. A deny that covers any form of a root denies it;
// a ceiling must cover the real form (the written one where the disk was not asked).

import type { Access } from './access.ts';
import { ANY, couldLieInside, covers, literalPattern, type PathPattern, patternPath } from './pattern.ts';
import type { Places, RootFacts } from './place.ts';
import { PlaceIndex } from './place-index.ts';
import type { Ceiling, CeilingItem, Policy, RootDeclaration } from './policy.ts';
import type { Rule, Source, Target } from './rule.ts';

export type Forms = readonly PathPattern[];

/** One item of a `deny` with all its forms and what is excepted from it. */
export interface DeniedPlace {
  readonly rule: Rule;
  readonly text: string;
  readonly forms: Forms;
  readonly except: Forms;
}

/** What a rule grants of one root. */
export interface Grants {
  readonly rule: Rule;
  /** null: all of it. */
  readonly members: ReadonlySet<string> | null;
}

interface CappedPlace {
  readonly access: Access;
  readonly forms: Forms;
}

export interface PreparedCeiling {
  readonly ceiling: Ceiling;
  readonly items: readonly { readonly item: CeilingItem; readonly forms: Forms }[];
}

export interface Evidence {
  readonly policy: Policy;
  readonly roots: readonly RootFacts[];
  readonly denied: PlaceIndex<DeniedPlace>;
  /** Allow and ask rules by the root they name. */
  readonly grants: ReadonlyMap<string, readonly Grants[]>;
  readonly ceilings: readonly PreparedCeiling[];
  readonly sensitive: PlaceIndex<{ readonly text: string; readonly forms: Forms }>;
  /** Caps of declared roots and of project files. */
  readonly capped: PlaceIndex<CappedPlace>;
  /** What the project files of all roots deny; each lies inside its root. */
  readonly deniedByProjects: PlaceIndex<{ readonly pattern: PathPattern; readonly source: Source }>;
  /** All forms of a pattern of the policy. */
  readonly formsOf: (pattern: PathPattern) => Forms;
}

/** Puts policy and places together. `places.roots` empty: decisions look at written forms only (tests). */
export function gatherEvidence(policy: Policy, places: Places): Evidence {
  const formsOf = (pattern: PathPattern): Forms => [pattern, ...(places.resolved.get(patternPath(pattern)) ?? [])];
  const factsByName = groupByDeclaration(places.roots);
  const declared = (root: Pick<RootDeclaration, 'name' | 'path'>): Forms => [
    ...formsOf(root.path),
    ...(factsByName.get(root.name) ?? []).flatMap(formsOfRoot),
  ];
  const denials = policy.rules.filter((rule) => rule.effect === 'deny');
  return {
    policy,
    roots: places.roots,
    denied: indexed(denials.flatMap((rule) => deniedPlaces(rule, formsOf))),
    grants: indexGrants(policy.rules),
    ceilings: policy.ceilings.map((ceiling) => ({
      ceiling,
      items: ceiling.items.map((item) => ({ item, forms: ceilingForms(item.pattern, formsOf) })),
    })),
    sensitive: indexed([
      ...policy.sensitive.map((pattern) => ({ text: pattern.text, forms: formsOf(pattern) })),
      ...policy.roots.filter((root) => root.sensitive).map((root) => ({ text: root.name, forms: declared(root) })),
    ]),
    capped: indexed([
      ...policy.roots.flatMap(({ access, ...root }) =>
        access === undefined ? [] : [{ access, forms: declared(root) }],
      ),
      ...places.roots.flatMap(cappedByProject),
    ]),
    deniedByProjects: indexed(
      places.roots
        .flatMap(({ project }) => (project?.state === 'good' ? project.deny : []))
        .map((denied) => ({ ...denied, forms: [denied.pattern] })),
    ),
    formsOf,
  };
}

function indexed<T extends { readonly forms: Forms }>(places: readonly T[]): PlaceIndex<T> {
  const index = new PlaceIndex<T>();
  for (const place of places) index.add(place, place.forms);
  return index;
}

function groupByDeclaration(roots: readonly RootFacts[]): ReadonlyMap<string, readonly RootFacts[]> {
  const groups = new Map<string, RootFacts[]>();
  for (const root of roots) {
    const group = groups.get(root.declaration.name);
    if (group === undefined) groups.set(root.declaration.name, [root]);
    else group.push(root);
  }
  return groups;
}

/** Written and, where known, real; one form where that is the same. */
export function formsOfRoot({ written, place }: RootFacts): Forms {
  return place === null || place.path === patternPath(written) ? [written] : [written, literalPattern(place.path)];
}

/** The allow and ask rules that name a root: its declaration, or the member that it is. */
export function rulesAbout({ grants }: Evidence, { name, declaration }: RootFacts): readonly Rule[] {
  const member = name.slice(declaration.name.length + 1);
  const naming = (grants.get(declaration.name) ?? []).filter(({ members }) => members === null || members.has(member));
  return naming.map(({ rule }) => rule);
}

/** The form a ceiling looks at: links must not lead out of it. */
export function realForm(root: RootFacts): PathPattern {
  return root.place === null ? root.written : literalPattern(root.place.path);
}

export function anyCovers(outer: Forms, inner: Forms): boolean {
  return outer.some((o) => inner.some((i) => covers(o, i)));
}

export function anyCouldLieInside(inner: Forms, outer: Forms): boolean {
  return inner.some((i) => outer.some((o) => couldLieInside(i, o)));
}

/** Does this denied place cover a form that no exception covers? */
export function denies(place: DeniedPlace, forms: Forms): boolean {
  return forms.some(
    (form) => place.forms.some((outer) => covers(outer, form)) && !place.except.some((outer) => covers(outer, form)),
  );
}

function cappedByProject(root: RootFacts): CappedPlace[] {
  if (root.project?.state !== 'good' || root.project.access === undefined) return [];
  return [{ access: root.project.access, forms: formsOfRoot(root) }];
}

function placeOf(target: Target): PathPattern {
  return target.kind === 'path' ? target.pattern : target.place;
}

function deniedPlaces(rule: Rule, formsOf: (pattern: PathPattern) => Forms): DeniedPlace[] {
  return rule.targets.map((target) => {
    const pattern = placeOf(target);
    const forms = formsOf(pattern);
    const except = rule.except.map(placeOf).flatMap((exception) => exceptionForms(pattern, forms, exception));
    return { rule, text: pattern.text, forms, except };
  });
}

/**
 * An exception holds as written, and below the resolved form of what is denied, but its own links are not followed:
 * INVARIANT: who can make a link where an exception points to gains nothing.
 */
function exceptionForms(denied: PathPattern, forms: Forms, exception: PathPattern): Forms {
  if (!covers(denied, exception) || denied.components.includes(ANY)) return [exception];
  const rest = exception.components.slice(denied.components.length);
  return forms.map((form) => ({ text: exception.text, components: [...form.components, ...rest] }));
}

/** Of a ceiling with stars only the part before the star is resolved: who makes links below it gains nothing. */
function ceilingForms(pattern: PathPattern, formsOf: (pattern: PathPattern) => Forms): Forms {
  const forms = formsOf(pattern);
  return pattern.components.includes(ANY) ? forms.filter((form) => form.components.includes(ANY)) : forms;
}

function indexGrants(rules: readonly Rule[]): Map<string, Grants[]> {
  const index = new Map<string, Grants[]>();
  for (const rule of rules) {
    if (rule.effect === 'deny') continue;
    for (const [name, members] of membersByRoot(rule)) {
      const known = index.get(name);
      if (known === undefined) index.set(name, [{ rule, members }]);
      else known.push({ rule, members });
    }
  }
  return index;
}

/** Which roots a rule names, and of each all of it (null) or which members. */
function membersByRoot({ targets }: Rule): ReadonlyMap<string, ReadonlySet<string> | null> {
  const named = new Map<string, Set<string> | null>();
  for (const target of targets) {
    if (target.kind !== 'root') continue;
    const members = named.has(target.root) ? named.get(target.root) : new Set<string>();
    if (target.member === undefined || members === null) named.set(target.root, null);
    else named.set(target.root, members?.add(target.member) ?? null);
  }
  return named;
}
