// The reader of plain YAML against the one of all of YAML.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mutate, mutations, SYSTEM, USER } from '../support/mutated-policy.ts';
import { assertSameYaml } from '../support/same-yaml.ts';

const shippedIn = (directory: string): readonly string[] => {
  const url = new URL(`../../${directory}/`, import.meta.url);
  const names = readdirSync(url).filter((name) => name.endsWith('.yaml'));
  return names.map((name) => readFileSync(new URL(name, url), 'utf8'));
};
const SHIPPED = [...shippedIn('policies'), ...shippedIn('config')];

describe('readPlainYaml()', () => {
  const PLAIN = [
    'version: 1\n',
    'version: 1',
    '\n# c\n\nversion: 1 # c\n\n# c',
    'a: 0\nb: 12\nc: 123456789012345\nd: true\ne: false\n',
    'a: ~/x\nb: /y z/w\nc: a:b\nd: a#b\ne: 8h\nf: .git\ng: 1.2.z\nh: $HOME\ni: é ü\nj: -y\nk: --x\nl: a, b [c] {d}\n',
    'a: "b: c # d"\nb: \'e\'\nc: ""\nd: "x" # c\n',
    'a:\n  b:\n    c: d\n  e: f\ng: h\n',
    'a:\n- b\n- c\nd:\n  - e\n',
    'a: # c\n  # c\n    b: 1\n\n    c: 2\n',
    'a:\n  - b: 1\n    c: [d, e]\n  # c\n  - f: { g: h, i: [j] }\n  - k\n',
    'a: []\nb: {}\nc: [ ]\nd: { }\ne: [[a], [b, []]]\n',
    'a: [b,\n  c\n  , d ]\ne: {\n f: g }\n',
    'a:\n  [b, c]\nd:\n  e\n',
    'a: [npx, -y, "@x/y", https://z/?a=b]\n',
    'a:   b   \nc:    [ d ]   # e\n',
    'a:\n  -   b: 1\n      c: 2\n',
    'a.b/c-d_e: 1\nA1: 2\n',
  ];
  for (const text of PLAIN) {
    it(`reads as all of YAML does: ${JSON.stringify(text)}`, () => assert.equal(assertSameYaml(text), true));
  }

  // Each may be right or wrong; who tells is the other reader.
  const NOT_PLAIN = [
    '',
    '# c\n',
    '- a\n',
    'a\n',
    '"a": 1\n',
    ' a: 1\n',
    'a: 1\na: 2\n',
    'a: { b: 1, b: 2 }\n',
    'constructor: 1\n',
    '__proto__: 1\n',
    'null: 1\n',
    'a:\n',
    'a:\nb: 1\n',
    'a: ~\n',
    'a: null\n',
    'a: True\n',
    'a: 007\n',
    'a: 1.5\n',
    'a: 1e3\n',
    'a: 0x1f\n',
    'a: .inf\n',
    'a: 2025-01-01\n',
    'a: 1234567890123456\n',
    'a: b: c\n',
    'a: b:\n',
    'a: b\n  c\n',
    'a: b\n c: d\n',
    'a:\n  b: 1\n c: 2\n',
    'a:\n    b: 1\n  c: 2\n',
    'a:\n  - b\n - c\n',
    'a:\n  -\n    b: 1\n',
    'a:\n  - - b\n',
    'a: |\n  b\n',
    'a: >-\n  b\n',
    'a: "b\\n"\n',
    'a: "b\n  c"\n',
    "a: 'it''s'\n",
    'a: "b" c\n',
    'a: &x b\n',
    'a: *x\n',
    'a: !!str 1\n',
    'a: @b\n',
    'a: %b\n',
    'a: `b`\n',
    'a: ? b\n',
    'a: - b\n',
    'a:\tb\n',
    'a: 1\r\nb: 2\r\n',
    '---\na: 1\n',
    'a: 1\n---\nb: 2\n',
    'a: 1\n...\n',
    '%YAML 1.2\n---\na: 1\n',
    '? a\n: b\n',
    '<<: { a: 1 }\n',
    'a: [b\n',
    'a: [b c\n  d]\n',
    'a: [b,]\n',
    'a: [,b]\n',
    'a: [b: c]\n',
    'a: {b}\n',
    'a: {b:c}\n',
    'a: ["b":c]\n',
    'a: [b # c\n  ]\n',
    'a: [b, # c\n  d]\n',
    'a: [b\n]\n',
    'a:\n  b: [c,\n  d]\n',
    'a: [b] c\n',
    'a: {b: c} # d\n  e: f\n',
    `${'a: '.repeat(2)}\n`,
    `a: ${'['.repeat(20)}${']'.repeat(20)}\n`,
  ];
  for (const text of NOT_PLAIN) {
    it(`leaves alone: ${JSON.stringify(text)}`, () => assert.equal(assertSameYaml(text), false));
  }

  it('reads all that is shipped', () => {
    for (const text of SHIPPED) assert.equal(assertSameYaml(text), true);
  });

  it('reads what was changed anywhere as all of YAML does, or leaves it alone', () => {
    let plain = 0;
    const texts = fc.constantFrom(SYSTEM, USER, ...PLAIN);
    fc.assert(
      fc.property(texts, mutations, (text, changes) => {
        if (assertSameYaml(changes.reduce(mutate, text))) plain += 1;
      }),
      { numRuns: 4_000 },
    );
    assert.ok(plain > 400, `only ${plain} were plain`);
  });
});
