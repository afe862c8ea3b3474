import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_VALUES, rankInSteps } from '../../src/core/rank.ts';
import { runAtOnce } from '../../src/core/steps.ts';

function rank(query: string, ...texts: readonly string[]): readonly string[] {
  return runAtOnce(rankInSteps(query, texts, (text) => text)).best;
}

test('rankInSteps() puts exact before prefix, start of a word and subsequence', () => {
  const rows: [query: string, expected: string[]][] = [
    ['foo', ['foo', 'foobar', 'my-foo', 'fxoxo']],
    // Equal rank: the shorter one, then by code point.
    ['a', ['a', 'ab', 'ac', 'abc']],
    ['', ['', 'b', 'aa']],
    // A word begins behind what is neither letter nor digit, or at a hump.
    ['bar', ['bar', 'a_bar', 'fooBar', 'foo.bar', 'fobar', 'foobar']],
    ['x', ['x', '-x-']],
    // Case and composition do not matter, but the exact one is first.
    ['readme', ['readme', 'README', 'ReadMe.md']],
    ['e\u0301', ['é', 'É1']],
    ['straße', ['straße']],
    // Not by unit: what lies beyond the basic plane comes last.
    ['z', ['z\uffee', 'z\u{1f600}']],
  ];
  for (const [query, expected] of rows) {
    assert.deepEqual(rank(query, ...expected.toReversed()), expected, query);
  }
  assert.deepEqual(rank('abc', 'acb', 'ab', ''), []);
});

test('rankInSteps() gives the best hundred of any number, and how many match', () => {
  const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'B', '-', '.'), maxLength: 6 }), {
    maxLength: 2_500,
  });
  fc.assert(
    fc.property(texts, fc.string({ unit: fc.constantFrom('a', 'b', '-'), maxLength: 3 }), (candidates, query) => {
      const { best, total } = runAtOnce(rankInSteps(query, candidates, (text) => text));
      const one = (text: string) => runAtOnce(rankInSteps(query, [text], (same) => same)).total === 1;
      assert.equal(total, candidates.filter(one).length);
      assert.equal(best.length, Math.min(total, MAX_VALUES));
      // None that is left out is better than one that is told.
      const rest = [...candidates].filter(one);
      for (const text of best) rest.splice(rest.indexOf(text), 1);
      const worst = best.at(-1);
      for (const text of rest.slice(0, 50)) {
        const [first] = runAtOnce(rankInSteps(query, [text, worst ?? ''], (same) => same)).best;
        assert.ok(first === worst || text === worst, `${text} is better than ${worst}`);
      }
    }),
    { numRuns: 60 },
  );
});
