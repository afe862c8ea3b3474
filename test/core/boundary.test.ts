import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createBoundary, isInside, narrowBoundary } from '../../src/core/boundary.ts';
import type { RealPath } from '../../src/core/path.ts';

/** In these tests any absolute text may stand for a path that the disk has resolved. */
const real = (path: string) => path as RealPath;
const bounded = (path: string, ...carved: string[]) => ({ path: real(path), carved });

/** Few names and little depth, so that places often contain one another. */
const places = fc.array(fc.constantFrom('a', 'ab', 'b'), { maxLength: 4 }).map((parts) => real(`/${parts.join('/')}`));

/** The definition, by components. */
function containsBySplit(outer: string, inner: string): boolean {
  const wanted = outer.split('/').filter((part) => part !== '');
  const given = inner.split('/').filter((part) => part !== '');
  return wanted.every((part, i) => given[i] === part);
}

describe('isInside()', () => {
  it('compares component by component', () => {
    const rows: readonly (readonly [inner: string, outer: string, inside: boolean])[] = [
      ['/a/b', '/a/b', true],
      ['/a/b/c', '/a/b', true],
      ['/a/b/c/d/e', '/a/b', true],
      ['/a', '/a/b', false],
      // A name that only starts like the directory's (B064, B065).
      ['/a/b-x', '/a/b', false],
      ['/a/bx', '/a/b', false],
      ['/a/b.old/c', '/a/b', false],
      // The root of the file system (B067, B069).
      ['/etc/hostname', '/', true],
      ['/', '/', true],
      ['/', '/a', false],
    ];
    for (const [inner, outer, inside] of rows)
      assert.equal(isInside(real(inner), real(outer)), inside, `${inner} in ${outer}`);
  });

  it('knows no prefix of a name from the directory, for any names', () => {
    const name = fc.stringMatching(/^[a-z.-]{1,8}$/);
    fc.assert(
      fc.property(name, name, (directory, rest) => {
        assert.equal(isInside(real(`/r/${directory}${rest}`), real(`/r/${directory}`)), false);
        assert.equal(isInside(real(`/r/${directory}/${rest}`), real(`/r/${directory}`)), true);
      }),
    );
    fc.assert(fc.property(places, places, (a, b) => assert.equal(isInside(a, b), containsBySplit(b, a))));
  });
});

describe('createBoundary()', () => {
  it('finds the deepest enclosing place', () => {
    const boundary = createBoundary(['/a', '/a/b', '/c/d'].map(real));
    const rows: readonly (readonly [path: string, enclosing: string | undefined])[] = [
      ['/a', '/a'],
      ['/a/x', '/a'],
      ['/a/b', '/a/b'],
      ['/a/b/x/y', '/a/b'],
      ['/a/bx', '/a'],
      ['/c', undefined],
      ['/c/d/e', '/c/d'],
      ['/', undefined],
    ];
    for (const [path, enclosing] of rows) assert.equal(boundary.enclosing(real(path)), enclosing, path);
    assert.equal(createBoundary([real('/')]).enclosing(real('/etc')), '/');
    assert.equal(createBoundary([]).enclosing(real('/etc')), undefined);
  });

  it('agrees with a search through all', () => {
    fc.assert(
      fc.property(fc.array(places), places, (roots, path) => {
        const holding = roots.filter((root) => containsBySplit(root, path)).sort((a, b) => b.length - a.length);
        assert.equal(createBoundary(roots).enclosing(path), holding[0]);
      }),
    );
  });
});

describe('narrowBoundary()', () => {
  it('keeps the inner place of each pair', () => {
    const entries = [bounded('/a'), bounded('/b/c')];
    const rows: readonly (readonly [limits: readonly string[], result: readonly string[]])[] = [
      [['/a'], ['/a']],
      [['/a/x'], ['/a/x']],
      [['/b'], ['/b/c']],
      [
        ['/b/c/d', '/a'],
        ['/a', '/b/c/d'],
      ],
      [
        ['/a/x', '/a/x', '/a/y'],
        ['/a/x', '/a/y'],
      ],
      [['/a', '/a/x'], ['/a']],
      [['/'], ['/a', '/b/c']],
      [['/ax', '/b/d', '/z'], []],
      [[], []],
    ];
    for (const [limits, result] of rows) {
      const narrowed = narrowBoundary(entries, limits.map(real)).map((entry) => entry.path);
      assert.deepEqual(narrowed, result, limits.join(' '));
    }
  });

  it('names the deepest entry that holds the place, with what that entry says', () => {
    const entries = [
      { ...bounded('/a'), access: 'read-write' },
      { ...bounded('/a/b'), access: 'read-only' },
    ];
    assert.deepEqual(narrowBoundary(entries, [real('/a/b/c')]), [{ path: '/a/b/c', carved: [], access: 'read-only' }]);
  });

  it('gives nothing that is carved out, and keeps what is carved below', () => {
    const entries = [bounded('/a', '/a/secret', '/a/x/secret')];
    assert.deepEqual(narrowBoundary(entries, [real('/a/secret'), real('/a/secret/x')]), []);
    assert.deepEqual(narrowBoundary(entries, [real('/a/x')]), [bounded('/a/x', '/a/x/secret')]);
    assert.deepEqual(narrowBoundary(entries, [real('/')]), entries);
  });

  it('is the intersection: never wider than either side, and nothing lost', () => {
    const holds = (roots: readonly string[], path: string) => roots.some((root) => containsBySplit(root, path));
    fc.assert(
      fc.property(fc.array(places), fc.array(places), places, (policy, limits, path) => {
        const result = narrowBoundary(
          policy.map((place) => bounded(place)),
          limits,
        ).map((entry) => entry.path);
        assert.equal(holds(result, path), holds(policy, path) && holds(limits, path));
      }),
    );
  });
});
