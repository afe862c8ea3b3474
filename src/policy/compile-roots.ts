import { ANY, componentsOf, covers, type Expansions, literalPattern, type PathPattern } from '../core/pattern.ts';
import type { RootDeclaration } from '../core/policy.ts';
import { compilePath } from './compile-path.ts';
import type { Entry, PolicySource } from './policy-source.ts';
import type { RawRoot } from './raw-policy.ts';
import { clip } from './source-text.ts';
import { type Pointer, pointerTo } from './yaml-file.ts';

/** Directories that hold homes, wherever the user's own home is. */
const HOLD_HOMES = ['/home', '/Users', '/var/home'];

/** The roots that a file declares. */
export function compileRoots(source: PolicySource, expansions: Expansions): RootDeclaration[] {
  return source.entriesOf('roots').flatMap((entry) => compileRoot(source, entry, expansions) ?? []);
}

function compileRoot(source: PolicySource, entry: Entry<RawRoot>, expansions: Expansions): RootDeclaration | null {
  const { name, pointer, raw } = entry;
  const path = compileRootPath(source, pointerTo(pointer, 'path'), raw.path, expansions);
  if (path === null) return null;
  const wide = whyTooWide(path, expansions);
  if (wide !== null) source.refuse('POLICY_WIDE_ROOT', pointerTo(pointer, 'path'), { name, what: wide });
  if (raw.having !== undefined && path.components.at(-1) !== ANY) {
    source.refuseKey('POLICY_HAVING', pointerTo(pointer, 'having'), {});
  }
  return {
    name,
    path,
    ...(raw.title === undefined ? {} : { title: raw.title }),
    ...(raw.access === undefined ? {} : { access: raw.access }),
    having: raw.having ?? [],
    kind: raw.kind ?? 'directory',
    symlinks: raw.symlinks ?? 'inside',
    nested: raw.nested ?? 'withhold',
    sensitive: raw.sensitive ?? false,
    source: source.sourceOf(pointer),
  };
}

/** In a root a star is the whole last component or an error. */
function compileRootPath(source: PolicySource, pointer: Pointer, text: string, expansions: Expansions) {
  const parts = componentsOf(text);
  const fixed = parts.at(-1) === '*' ? parts.slice(0, -1) : parts;
  if (fixed.some((part) => part.includes('*'))) {
    const why = 'has a star elsewhere than as its whole last component';
    source.refuse('POLICY_PATH', pointer, { path: clip(text), why });
    return null;
  }
  return compilePath(source, pointer, text, { expansions, stars: true });
}

/** The filesystem's root, the home, what holds a home; a pattern whose members would be one of these. */
function whyTooWide(path: PathPattern, { home }: Expansions): string | null {
  if (path.components.length === 0) return 'the whole filesystem';
  const own = literalPattern(home);
  if (isSameLength(path, own) && covers(path, own)) return 'the home directory itself';
  const parents = [...HOLD_HOMES.map((parent) => literalPattern(parent)), ...parentsOf(own)];
  const parent = parents.find((candidate) => isSameLength(path, candidate) && covers(path, candidate));
  return parent === undefined ? null : `"/${parent.components.join('/')}", which holds home directories`;
}

function parentsOf({ components }: PathPattern): PathPattern[] {
  return components.slice(1).map((_, i) => literalPattern(`/${components.slice(0, i + 1).join('/')}`));
}

function isSameLength(a: PathPattern, b: PathPattern): boolean {
  return a.components.length === b.components.length;
}
