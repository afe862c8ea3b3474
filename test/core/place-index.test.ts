import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ANY, couldLieInside, covers, literalPattern, type PathPattern, patternPath } from '../../src/core/pattern.ts';
import { PlaceIndex } from '../../src/core/place-index.ts';

const component = fc.oneof({ weight: 5, arbitrary: fc.constantFrom('a', 'b', '*') }, fc.constant(ANY));
const pattern = fc
  .array(component, { maxLength: 4 })
  .map((components): PathPattern => ({ text: patternPath({ text: '', components }), components }));
const forms = fc.array(pattern, { minLength: 1, maxLength: 2 });

function indexOf(entries: readonly (readonly PathPattern[])[]): PlaceIndex<number> {
  const index = new PlaceIndex<number>();
  entries.forEach((entry, i) => {
    index.add(i, entry);
  });
  return index;
}

describe('PlaceIndex', () => {
  it('finds everything that covers a place or could lie inside it', () => {
    const random = fc.property(fc.array(forms, { maxLength: 8 }), forms, (entries, places) => {
      const index = indexOf(entries);
      const [covering, inside] = [index.covering(places), index.inside(places)];
      entries.forEach((entry, i) => {
        const some = (test: (form: PathPattern, place: PathPattern) => boolean) =>
          entry.some((form) => places.some((place) => test(form, place)));
        if (some(covers)) assert.ok(covering.includes(i), `${i} covers`);
        if (some(couldLieInside)) assert.ok(inside.includes(i), `${i} could lie inside`);
      });
      assert.deepEqual([covering.length, inside.length], [new Set(covering).size, new Set(inside).size]);
    });
    fc.assert(random, { numRuns: 2_000 });
  });

  it('gives of many places only those on the way to one, and below it', () => {
    const paths = Array.from({ length: 1_000 }, (_, i) => `/srv/p${i}/src`);
    const index = indexOf([...paths, '/', '/srv'].map((path) => [literalPattern(path)]));
    assert.deepEqual(index.covering([literalPattern('/srv/p7/src/x')]), [1_000, 1_001, 7]);
    assert.deepEqual(index.inside([literalPattern('/srv/p7')]), [7]);
    assert.equal(index.inside([literalPattern('/')]).length, 1_001);
    assert.deepEqual([index.covering([literalPattern('/opt')]), index.inside([literalPattern('/opt')])], [[1_000], []]);
  });
});
