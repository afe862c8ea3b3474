// What decisions are made from: the policy put together with what the disk says, prepared once for all peers.
// "Form" = one of the spellings of a place: as written, and resolved. A deny that covers any form of a root denies it;
// a ceiling must cover the real form (the written one where the disk was not asked).

import type { Access } from './access.ts';
import { ANY, couldLieInside, covers, literalPattern, type PathPattern, patternPath } from './pattern.ts';
import type { Places, RootFacts } from './place.ts';
import { PlaceIndex } from './place-index.ts';
import type { Ceiling, CeilingItem, Policy, RootDeclaration } from './policy.ts';
import type { Rule, Source, Target } from './rule.ts';
import { runAtOnce } from './steps.ts';

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

interface SensitivePlace {
  readonly text: string;
  readonly forms: Forms;
}

interface ProjectDenial {
  readonly pattern: PathPattern;
  readonly source: Source;
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
  /** By this time rules have ended or not; null: no time is looked at. */
  readonly nowMs: number | null;
  readonly roots: readonly RootFacts[];
  readonly denied: PlaceIndex<DeniedPlace>;
  /** Allow and ask rules by the root they name. */
  readonly grants: ReadonlyMap<string, readonly Grants[]>;
  readonly ceilings: readonly PreparedCeiling[];
  readonly sensitive: PlaceIndex<SensitivePlace>;
  /** Caps of declared roots and of project files. */
  readonly capped: PlaceIndex<CappedPlace>;
  /** What the project files of all roots deny; each lies inside its root. */
  readonly deniedByProjects: PlaceIndex<ProjectDenial>;
  /** All forms of a pattern of the policy. */
  readonly formsOf: (pattern: PathPattern) => Forms;
}

/** Puts policy, places and time together. `places.roots` empty: decisions look at written forms only (tests). */
export function gatherEvidence(policy: Policy, places: Places, nowMs: number | null = null): Evidence {
  return runAtOnce(gatherInSteps(policy, places, nowMs));
}

/** The same, a place or a rule a step. */
export function* gatherInSteps(policy: Policy, places: Places, nowMs: number | null = null): Generator<void, Evidence> {
  const formsOf = (pattern: PathPattern): Forms => [pattern, ...(places.resolved.get(patternPath(pattern)) ?? [])];
  const factsByName = groupByDeclaration(places.roots);
  const declared = (root: RootDeclaration): Forms => [
    ...formsOf(root.path),
    ...(factsByName.get(root.name) ?? []).flatMap(formsOfRoot),
  ];
  return {
    policy,
    nowMs,
    roots: places.roots,
    denied: yield* indexed(deniedPlaces(policy, formsOf)),
    grants: yield* indexGrants(policy.rules),
    ceilings: policy.ceilings.map((ceiling) => ({
      ceiling,
      items: ceiling.items.map((item) => ({ item, forms: ceilingForms(item.pattern, formsOf) })),
    })),
    sensitive: yield* indexed(sensitivePlaces(policy, formsOf, declared)),
    capped: yield* indexed(cappedPlaces(policy, places, declared)),
    deniedByProjects: yield* indexed(placesDeniedByProjects(places)),
    formsOf,
  };
}

/** Takes them as they are made, so that making them is a part of the step. */
function* indexed<T extends { readonly forms: Forms }>(places: Iterable<T>): Generator<void, PlaceIndex<T>> {
  const index = new PlaceIndex<T>();
  for (const place of places) {
    index.add(place, place.forms);
    yield;
  }
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

function* sensitivePlaces(
  policy: Policy,
  formsOf: (pattern: PathPattern) => Forms,
  declared: (root: RootDeclaration) => Forms,
): Generator<SensitivePlace> {
  for (const pattern of policy.sensitive) yield { text: pattern.text, forms: formsOf(pattern) };
  for (const root of policy.roots) if (root.sensitive) yield { text: root.name, forms: declared(root) };
}

function* cappedPlaces(
  policy: Policy,
  places: Places,
  declared: (root: RootDeclaration) => Forms,
): Generator<CappedPlace> {
  for (const root of policy.roots) {
    if (root.access !== undefined) yield { access: root.access, forms: declared(root) };
  }
  for (const root of places.roots) {
    const { project } = root;
    if (project?.state === 'good' && project.access !== undefined) {
      yield { access: project.access, forms: formsOfRoot(root) };
    }
  }
}

function* placesDeniedByProjects({ roots }: Places): Generator<ProjectDenial & { readonly forms: Forms }> {
  for (const { project } of roots) {
    if (project?.state !== 'good') continue;
    for (const denied of project.deny) yield { ...denied, forms: [denied.pattern] };
  }
}

function placeOf(target: Target): PathPattern {
  return target.kind === 'path' ? target.pattern : target.place;
}

function* deniedPlaces({ rules }: Policy, formsOf: (pattern: PathPattern) => Forms): Generator<DeniedPlace> {
  for (const rule of rules) {
    if (rule.effect !== 'deny') continue;
    for (const target of rule.targets) {
      const pattern = placeOf(target);
      const forms = formsOf(pattern);
      const except = rule.except.map(placeOf).flatMap((exception) => exceptionForms(pattern, forms, exception));
      yield { rule, text: pattern.text, forms, except };
    }
  }
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

function* indexGrants(rules: readonly Rule[]): Generator<void, ReadonlyMap<string, readonly Grants[]>> {
  const index = new Map<string, Grants[]>();
  for (const rule of rules) {
    if (rule.effect === 'deny') continue;
    yield;
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
