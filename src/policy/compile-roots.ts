import { ANY, componentsOf, type Expansions } from '../core/pattern.ts';
import type { RootDeclaration } from '../core/policy.ts';
import { compilePath } from './compile-path.ts';
import type { Entry, PolicySource } from './policy-source.ts';
import type { RawRoot } from './raw-policy.ts';
import { clip } from './source-text.ts';
import { wideAt, widePlaces } from './wide-places.ts';
import { type Pointer, pointerTo } from './yaml-file.ts';

/** The roots that a file declares. */
export function compileRoots(source: PolicySource, expansions: Expansions): RootDeclaration[] {
  return source.entriesOf('roots').flatMap((entry) => compileRoot(source, entry, expansions) ?? []);
}

function compileRoot(source: PolicySource, entry: Entry<RawRoot>, expansions: Expansions): RootDeclaration | null {
  const { name, pointer, raw } = entry;
  const path = compileRootPath(source, pointerTo(pointer, 'path'), raw.path, expansions);
  if (path === null) return null;
  const wide = wideAt(path, widePlaces([expansions.home]));
  if (wide !== undefined) source.refuse('POLICY_WIDE_ROOT', pointerTo(pointer, 'path'), { name, what: wide.what });
  if (raw.symlinks === 'none') source.warn('POLICY_NO_EFFECT', pointerTo(pointer, 'symlinks'), { key: 'symlinks' });
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
