// Paths as a policy writes them: absolute, by component, `*` for one component, `**` only last.
// Lexical only. What the disk says about such a path is a Place (place.ts).

/** Stands for any one component, dot names too. */
export const ANY = Symbol('*');
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

/** The pattern as an absolute path text, with `*` for a star. */
export function patternPath(pattern: PathPattern): string {
  return `/${pattern.components.map((part) => (part === ANY ? '*' : part)).join('/')}`;
}
