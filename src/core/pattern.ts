// Paths as a policy writes them: absolute, by component, `*` for one component, `**` only last.
// Lexical only. What the disk says about such a path is a Place (place.ts).

import { hasControlOrBidi } from './display.ts';
import { byteLength, MAX_PATH_BYTES } from './path.ts';

/** Stands for any one component, dot names too. Plain data, so that a policy can be handed to another thread or process. */
export const ANY = null;
export type Component = string | typeof ANY;

export interface PathPattern {
  /** As written in the policy, for messages. */
  readonly text: string;
  /** Expanded, without empty and `.` components and without a last `**` (a path covers all below it anyway). */
  readonly components: readonly Component[];
}

/** What `~`, `${home}`, `${user}`, `${uid}` and `${hostname}` stand for. */
export interface Expansions {
  readonly home: string;
  readonly user: string;
  readonly uid: number;
  readonly hostname: string;
}

/** The components of an absolute path, without empty ones and `.`; `..` is kept. */
export function componentsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

/** A pattern without stars from an absolute path; every component is literal, also one that is named `*`. */
export function literalPattern(path: string, text = path): PathPattern {
  return { text, components: componentsOf(path) };
}

function componentMatches(outer: Component | undefined, inner: Component | undefined): boolean {
  return outer === ANY || (inner !== ANY && outer === inner);
}

function componentCouldMatch(a: Component | undefined, b: Component | undefined): boolean {
  return a === ANY || b === ANY || a === b;
}

/** Does `outer` cover every place that `inner` can be: the place itself or one above it? */
export function covers(outer: PathPattern, inner: PathPattern): boolean {
  if (outer.components.length > inner.components.length) return false;
  return outer.components.every((part, i) => componentMatches(part, inner.components[i]));
}

/** Could a place that `inner` names lie below (not at) a place that `outer` names? */
export function couldLieInside(inner: PathPattern, outer: PathPattern): boolean {
  if (inner.components.length <= outer.components.length) return false;
  return outer.components.every((part, i) => componentCouldMatch(part, inner.components[i]));
}

/** Can it name more than one place? */
export function hasStar({ components }: PathPattern): boolean {
  return components.includes(ANY);
}

/** The pattern as an absolute path text, with `*` for a star. */
export function patternPath({ components }: PathPattern): string {
  const parts = components.includes(ANY) ? components.map((part) => (part === ANY ? '*' : part)) : components;
  return `/${parts.join('/')}`;
}

/** What can be wrong with a path in a policy; the reader maps each to a code of its own. */
export type PolicyPathFault =
  | 'empty'
  | 'relative'
  | 'other-home'
  | 'placeholder'
  | 'dot-dot'
  | 'character'
  | 'star'
  | 'too-long';

export type ParsedPolicyPath =
  | { readonly ok: true; readonly pattern: PathPattern }
  /** `why` goes on where "the path" stops: `is relative, must be absolute or start with "~"`. */
  | { readonly ok: false; readonly fault: PolicyPathFault; readonly why: string };

const PLACEHOLDER = /\$\{([^}]*)(\}?)/g;

/**
 * Reads a path as policies write it: absolute, or starting with `~`, `~/` or a placeholder that makes it absolute;
 * placeholders stand anywhere. `*` and `**` are special only as whole components that the policy itself wrote, never
 * where they come out of a placeholder. Neither trimmed nor normalized, but repeated and last slashes and `/./` name
 * the same place. With `stars: false` a star is a fault.
 */
export function parsePolicyPath(
  text: string,
  expansions: Expansions,
  options: { readonly stars: boolean },
): ParsedPolicyPath {
  if (text === '') return refuse('empty', 'is empty');
  if (hasControlOrBidi(text)) return refuse('character', 'holds a control or bidirectional character');
  if (/^~[^/]/.test(text)) return refuse('other-home', 'starts with "~" and a name, only "~" and "~/" are expanded');
  const template = text.replace(/^~/, '${home}');
  const fault = placeholderFault(template, expansions);
  if (fault !== undefined) return refuse('placeholder', fault);
  const expanded = expand(template, expansions);
  if (!expanded.startsWith('/')) return refuse('relative', 'is relative, must be absolute or start with "~"');
  if (hasControlOrBidi(expanded)) return refuse('character', 'expands to a control or bidirectional character');
  if (byteLength(expanded) > MAX_PATH_BYTES) return refuse('too-long', `is longer than ${MAX_PATH_BYTES} bytes`);
  return readComponents(text, componentsOf(template), { expansions, stars: options.stars });
}

function refuse(fault: PolicyPathFault, why: string): ParsedPolicyPath {
  return { ok: false, fault, why };
}

function readComponents(
  text: string,
  written: readonly string[],
  options: { readonly expansions: Expansions; readonly stars: boolean },
): ParsedPolicyPath {
  const everythingBelow = written.at(-1) === '**';
  const parts = everythingBelow ? written.slice(0, -1) : written;
  if (!options.stars && (everythingBelow || parts.includes('*')))
    return refuse('star', 'has a star, must name one place');
  if (parts.includes('**')) return refuse('star', 'has "**" before its last component');
  const components = parts.flatMap((part): readonly Component[] =>
    part === '*' ? [ANY] : componentsOf(expand(part, options.expansions)),
  );
  if (components.includes('..')) return refuse('dot-dot', 'has a ".." component');
  return { ok: true, pattern: { text, components } };
}

function expand(template: string, expansions: Expansions): string {
  return template.replace(PLACEHOLDER, (_, name: string) => expansionOf(name, expansions) ?? '');
}

function placeholderFault(template: string, expansions: Expansions): string | undefined {
  for (const [written, name = '', end] of template.matchAll(PLACEHOLDER)) {
    if (end === '') return `has "${written}" without its "}"`;
    const value = expansionOf(name, expansions);
    if (value === undefined) return `has the unknown placeholder "${written}"`;
    if (value === '') return `needs "${written}", which has no value here`;
  }
  return undefined;
}

function expansionOf(name: string, expansions: Expansions): string | undefined {
  switch (name) {
    case 'home':
    case 'user':
    case 'hostname':
      return expansions[name];
    case 'uid':
      return String(expansions.uid);
    default:
      return undefined;
  }
}
