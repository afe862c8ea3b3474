import type { RootsError } from '../core/errors.ts';
import { ANY, type PathPattern, patternPath } from '../core/pattern.ts';
import type { Places, RootFacts } from '../core/place.ts';
import type { RootDeclaration } from '../core/policy.ts';
import { FormsWatch } from './forms-watch.ts';
import type { Looking } from './looking.ts';
import type { Lookout } from './lookout.ts';
import { MemberWatch } from './member-watch.ts';
import type { ReadProject } from './project-file.ts';
import { RootWatch, type RootWatchOptions } from './root-watch.ts';

export interface WatchedPlacesOptions {
  readonly lookout: Lookout;
  readonly readProject: ReadProject;
  readonly onWarning: (warning: RootsError) => void;
  /** A directory has been found that may be a member of a pattern root. */
  readonly onFound: (looking: Looking) => void;
  readonly onForgotten: (looking: Looking) => void;
}

/** Everything that is looked at for one policy, and what it says all together. */
export class WatchedPlaces {
  readonly #options: WatchedPlacesOptions;
  readonly #directories: RootWatchOptions;
  readonly #files: RootWatchOptions;
  readonly #known = new Set<Looking>();
  #declarations: readonly RootDeclaration[] = [];
  #patterns: readonly PathPattern[] = [];
  #roots: ReadonlyMap<string, RootWatch> = new Map();
  #members: ReadonlyMap<string, MemberWatch> = new Map();
  #forms: ReadonlyMap<string, FormsWatch> = new Map();
  #places: Places | null = null;

  constructor(options: WatchedPlacesOptions) {
    this.#options = options;
    const { lookout, readProject } = options;
    this.#directories = { kind: 'directory', having: null, lookout, readProject };
    this.#files = { ...this.#directories, kind: 'file' };
  }

  /** Watches these and no others; what is watched already keeps what is known of it. Returns what is new. */
  replace(declarations: readonly RootDeclaration[], patterns: readonly PathPattern[]): readonly Looking[] {
    const before = this.#wanted();
    const [patternRoots, roots] = partition(declarations, isPatternRoot);
    this.#declarations = declarations;
    this.#patterns = patterns;
    this.#roots = reuse(this.#roots, roots, { keyOf: keyOfRoot, make: (it) => this.#watchRoot(it) });
    this.#members = reuse(this.#members, patternRoots, { keyOf: keyOfRoot, make: (it) => this.#watchMembers(it) });
    this.#forms = reuse(this.#forms, patterns, { keyOf, make: (it) => this.#watchForms(it) });
    const after = this.#wanted();
    const found = after.filter((looking) => !this.#known.has(looking));
    if (before.length > 0) this.#forgetAllBut(new Set(after), before);
    for (const looking of found) this.#known.add(looking);
    this.invalidate();
    return found;
  }

  has(looking: Looking): boolean {
    return this.#known.has(looking);
  }

  /** May be iterated while things are found and forgotten. */
  everything(): Iterable<Looking> {
    return this.#known;
  }

  get size(): number {
    return this.#known.size;
  }

  /** What places() said last is over. */
  invalidate(): void {
    this.#places = null;
  }

  places(): Places {
    this.#places ??= {
      roots: this.#declarations.flatMap((declaration) => this.#factsOf(declaration)),
      resolved: new Map(this.#patterns.flatMap((pattern) => this.#resolvedOf(pattern))),
    };
    return this.#places;
  }

  #factsOf(declaration: RootDeclaration): readonly RootFacts[] {
    const { name, path } = declaration;
    const root = this.#roots.get(keyOfRoot(declaration));
    if (root !== undefined) return [{ name, declaration, written: path, ...root.facts() }];
    const members = this.#members.get(keyOfRoot(declaration))?.members() ?? [];
    return members.map(([basename, member]) => {
      const written = {
        text: path.text.replace(/\*\/*$/, () => basename),
        components: path.components.with(-1, basename),
      };
      return { name: `${name}/${basename}`, declaration, written, ...member.facts() };
    });
  }

  #resolvedOf(pattern: PathPattern): readonly (readonly [string, readonly PathPattern[]])[] {
    const forms = this.#forms.get(keyOf(pattern))?.forms ?? [];
    return forms.length === 0 ? [] : [[patternPath(pattern), forms]];
  }

  #watchRoot({ path, kind }: RootDeclaration): RootWatch {
    return new RootWatch(patternPath(path), kind === 'file' ? this.#files : this.#directories);
  }

  #watchMembers({ path, having }: RootDeclaration): MemberWatch {
    const { lookout, readProject, onWarning, onFound } = this.#options;
    const members: MemberWatch = new MemberWatch({
      path: patternPath({ ...path, components: path.components.slice(0, -1) }),
      having,
      lookout,
      readProject,
      onWarning,
      onFound: (member) => {
        if (!this.#known.has(members)) return;
        this.#known.add(member);
        onFound(member);
      },
      onForgotten: (member) => this.#forget(member),
    });
    return members;
  }

  #watchForms(pattern: PathPattern): FormsWatch {
    const { lookout, onWarning } = this.#options;
    return new FormsWatch({ pattern, lookout, onWarning });
  }

  /** What the policy names; members of pattern roots are beside it. */
  #wanted(): readonly Looking[] {
    return [...this.#roots.values(), ...this.#members.values(), ...this.#forms.values()];
  }

  #forgetAllBut(kept: ReadonlySet<Looking>, before: readonly Looking[]): void {
    for (const looking of before) if (!kept.has(looking)) this.#forget(looking);
  }

  #forget(looking: Looking): void {
    if (looking instanceof MemberWatch) for (const candidate of looking.candidates) this.#forget(candidate);
    this.#known.delete(looking);
    this.#options.onForgotten(looking);
  }
}

function isPatternRoot({ path }: RootDeclaration): boolean {
  return path.components.at(-1) === ANY;
}

/** Declarations that look for the same on the disk share one watch. The key of most is nothing but their path. */
function keyOfRoot({ path, kind, having }: RootDeclaration): string {
  const key = keyOf(path);
  return kind === 'directory' && having.length === 0 ? key : JSON.stringify([key, kind, having]);
}

/** Tells a star from a component that is named `*`: what has a star is no absolute path. */
function keyOf(pattern: PathPattern): string {
  const { components } = pattern;
  if (!components.includes(ANY)) return patternPath(pattern);
  return JSON.stringify(components);
}

function partition<T>(all: readonly T[], test: (it: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(test), all.filter((it) => !test(it))];
}

interface Making<W, T> {
  readonly keyOf: (wanted: W) => string;
  readonly make: (wanted: W) => T;
}

/** One value a key, taken from `before` where it is there. */
function reuse<W, T>(before: ReadonlyMap<string, T>, wanted: readonly W[], making: Making<W, T>): Map<string, T> {
  const after = new Map<string, T>();
  for (const it of wanted) {
    const key = making.keyOf(it);
    if (!after.has(key)) after.set(key, before.get(key) ?? making.make(it));
  }
  return after;
}
