// Directories with all that a guard has to tell apart, and calls that name what lies in them and outside.

import fc from 'fast-check';
import { isInside } from '../../src/core/boundary.ts';
import type { RealPath } from '../../src/core/path.ts';
import type { BoundaryEntry } from '../../src/core/protocol.ts';
import { resolvePath } from '../../src/disk/resolve.ts';

/** For makeTree(). */
export const GUARDED_TREE = [
  'file a/f x',
  'file a/d/secret/f x',
  'file a/.rootsd.yaml x',
  'file r/f x',
  'file out/f x',
  'dir home',
  'link a/out -> ../out',
  'link a/self -> d',
  'link a/s -> d/secret',
  'link a/new -> ../out/none',
  'link a/loop -> loop',
  'link alias -> a',
];

/** What of it may be used: `a` without `a/d/secret`, and `r` for reading. */
export function guardedPlaces(base: string): readonly BoundaryEntry[] {
  const entry = (root: string, access: BoundaryEntry['access'], carved: readonly string[] = []): BoundaryEntry => ({
    root,
    path: `${base}/${root}`,
    access,
    carved,
  });
  return [entry('a', 'read-write', [`${base}/a/d/secret`]), entry('r', 'read-only')];
}

/** Arguments of a call, of any depth. */
export function randomArguments(base: string): fc.Arbitrary<unknown> {
  const places = ['a', 'a/f', 'a/d/secret', 'a/out', 'a/s', 'a/new', 'r', 'out', 'out/f', 'none', 'alias', 'a/self'];
  const step = fc.constantFrom('..', '.', '', 'f', 'd', 'x', 'secret', 'out', 'self');
  const path = fc
    .tuple(
      fc.constantFrom(...places.map((place) => `${base}/${place}`), '/etc', '~', '~/x', ''),
      fc.array(step, { maxLength: 4 }),
    )
    .map(([start, steps]) => [start, ...steps].join('/'));
  const text = fc.oneof(
    path,
    path.map((it) => `file://${it}`),
    fc.tuple(fc.constantFrom(' ', '"', '\t', ''), path).map(([around, it]) => around + it + around),
    fc.string({ unit: 'binary' }),
  );
  const name = fc.constantFrom('path', 'paths', 'source', 'file_path', 'content', 'x', 'uri', 'outputDir', 'query');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 4 }),
      fc.constantFrom(null, 1, true),
    ),
  }));
  return value;
}

/** Paths that such arguments name, as plainly as the documentation says it. */
export function plainlyNamed(value: unknown, property = 'arguments'): readonly string[] {
  if (typeof value === 'string') {
    const bare = value.trim().replaceAll('"', '');
    if (['content', 'query'].includes(property) || bare.includes('\n')) return [];
    if (bare.startsWith('file://')) return [decodeURIComponent(bare.slice('file://'.length))];
    const isNamed = ['path', 'paths', 'source', 'file_path', 'uri', 'outputDir'].includes(property);
    return isNamed && bare.startsWith('/') ? [bare] : [];
  }
  if (Array.isArray(value)) return value.flatMap((element) => plainlyNamed(element, property));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => plainlyNamed(member, name));
}

/** Does it lie in what may be used? */
export function isHeld(base: string, path: string): boolean {
  const resolved = resolvePath(path);
  const inside = (outer: string): boolean => resolved.ok && isInside(resolved.path, `${base}/${outer}` as RealPath);
  return (inside('a') && !inside('a/d/secret')) || inside('r');
}
