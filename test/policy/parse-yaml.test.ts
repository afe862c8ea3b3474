import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeText } from '../../src/policy/decode-text.ts';
import { parseYaml } from '../../src/policy/parse-yaml.ts';
import { MAX_PROBLEMS } from '../../src/policy/problem-list.ts';
import { shown } from './shown-problems.ts';

type Row = readonly [text: string, ...expected: string[]];

const REFUSED: Readonly<Record<string, readonly Row[]>> = {
  'duplicate keys, also quoted, nested and in flow maps': [
    ['a: 1\na: 2\n', 'YAML_DUPLICATE_KEY 2:1'],
    ['a: 1\n"a": 2\n', 'YAML_DUPLICATE_KEY 2:1'],
    ["'a': 1\na: 2\n", 'YAML_DUPLICATE_KEY 2:1'],
    ['a:\n  b: 1\n  c: 2\n  b: 3\n', 'YAML_DUPLICATE_KEY 4:3'],
    ['a: { b: 1, c: 2, "b": 3 }\n', 'YAML_DUPLICATE_KEY 1:18'],
    ['- { a: 1, a: 2 }\n- a: 1\n  a: 2\n', 'YAML_DUPLICATE_KEY 1:11', 'YAML_DUPLICATE_KEY 3:3'],
    ['a: 1\na: 2\na: 3\n', 'YAML_DUPLICATE_KEY 2:1', 'YAML_DUPLICATE_KEY 3:1'],
  ],
  'anchors, aliases and unquoted stars': [
    ['a: &x 1\nb: 2\n', 'YAML_ANCHOR 1:4'],
    ['a: &x 1\nb: *x\n', 'YAML_ANCHOR 1:4', 'YAML_ALIAS 2:4'],
    ['&k a: 1\n', 'YAML_ANCHOR 1:1'],
    ['a: *\n', 'YAML_STAR 1:4'],
    ['a: [*, "*"]\n', 'YAML_STAR 1:5'],
    ['a:\n  - **\n  - *.txt\n', 'YAML_STAR 2:5', 'YAML_STAR 3:5'],
    ['*a : 1\n', 'YAML_STAR 1:1'],
  ],
  'merge keys': [
    ['a:\n  <<: { b: 1 }\n', 'YAML_MERGE_KEY 2:3'],
    ['a: { <<: { b: 1 } }\n', 'YAML_MERGE_KEY 1:6'],
  ],
  'unknown tags': [
    ['a: !foo 1\n', 'YAML_TAG 1:4'],
    ['a: !!binary aGk=\n', 'YAML_TAG 1:4'],
    ['a: ! b\n', 'YAML_TAG 1:4'],
    ['a: !<tag:example.com,2000:x> b\n', 'YAML_TAG 1:4'],
    ['!!set a: 1\n', 'YAML_TAG 1:1'],
  ],
  'numbers that do not say what they mean': [
    ['a: 007\n', 'YAML_LEADING_ZERO 1:4'],
    ['a: -01\n', 'YAML_LEADING_ZERO 1:4'],
    ['a: 00\n', 'YAML_LEADING_ZERO 1:4'],
    ['a: 9007199254740992\n', 'YAML_NUMBER_SIZE 1:4'],
    ['a: 0xffffffffffffffff\n', 'YAML_NUMBER_SIZE 1:4'],
    [
      'a: 1.10\nb: [1e3, .5, 1., .inf, .nan]\n',
      'YAML_FRACTION 1:4',
      'YAML_FRACTION 2:5',
      'YAML_FRACTION 2:10',
      'YAML_FRACTION 2:14',
      'YAML_FRACTION 2:18',
      'YAML_FRACTION 2:24',
    ],
    ['a: 1.0\n', 'YAML_FRACTION 1:4'],
  ],
  'keys that are not text': [
    ['1.10: a\n', 'YAML_KEY 1:1'],
    ['007: a\n', 'YAML_KEY 1:1'],
    ['1e3: a\n', 'YAML_KEY 1:1'],
    ['a: { true: 1, ~: 2, 5: 3 }\n', 'YAML_KEY 1:6', 'YAML_KEY 1:15', 'YAML_KEY 1:21'],
    ['[a]: 1\n', 'YAML_KEY_KIND 1:1'],
    ['? { a: 1 }\n: 2\n', 'YAML_KEY_KIND 1:3'],
    ['a:\n  : 2\n', 'YAML_KEY_KIND 2:3'],
  ],
  'null in every spelling': [
    ['a: ~\n', 'YAML_NULL 1:4'],
    ['a: null\n', 'YAML_NULL 1:4'],
    ['a: Null\nb: NULL\n', 'YAML_NULL 1:4', 'YAML_NULL 2:4'],
    ['a:\n', 'YAML_EMPTY_VALUE 1:1'],
    ['a: [~, b]\n', 'YAML_NULL 1:5'],
    ['a:\n  -\n  - b\n', 'YAML_EMPTY_VALUE 2:4'],
    ['a: { b, c: }\n', 'YAML_EMPTY_VALUE 1:6', 'YAML_EMPTY_VALUE 1:9'],
  ],
  'a second document': [
    ['a: 1\n---\nb: 2\n', 'YAML_SECOND_DOCUMENT 2:1'],
    ['a: 1\n---\n', 'YAML_SECOND_DOCUMENT 2:1'],
    ['---\n---\n', 'YAML_SECOND_DOCUMENT 2:1'],
    ['---\na: 1\n...\n---\nb: 1\n', 'YAML_SECOND_DOCUMENT 4:1'],
    ['a: 1\n...\nb: 1\n', 'YAML_SECOND_DOCUMENT 3:1'],
    ['a: 1\n...\n"b": 1\n', 'YAML_SECOND_DOCUMENT 3:1'],
  ],
  directives: [
    ['%YAML 1.1\n---\na: 1\n', 'YAML_DIRECTIVE 1:1'],
    ['%TAG ! tag:x,2000:\n---\na: 1\n', 'YAML_DIRECTIVE 1:1'],
  ],
  'tabs as indentation': [
    ['a: 1\n\tb: 2\n', 'YAML_TAB 2:1'],
    ['\ta: 1\n', 'YAML_TAB 1:1'],
    ['a:\n  \t- b\n', 'YAML_TAB 2:3'],
    ['a:\n\tb: 1\n\tc: 2\n', 'YAML_TAB 2:1', 'YAML_TAB 3:1'],
    ['a: [\n\tb,\n  c ]\n', 'YAML_TAB 2:1'],
    ['a:\n  -\t- b\n', 'YAML_TAB 2:4'],
  ],
  'an unterminated quote, where it opens': [
    ['a: "b\nc: d\n', 'YAML_QUOTE 1:4'],
    ["a: 'b\nc: d\n", 'YAML_QUOTE 1:4'],
    ['a: "b\\"', 'YAML_QUOTE 1:4'],
    ["a: 'it''", 'YAML_QUOTE 1:4'],
    ['a: 1\nb: { c: "x }\nd: { e: "y" }\n', 'YAML_QUOTE 2:9'],
    ['a: ["b, c]\nd: "e f"\n', 'YAML_QUOTE 1:5'],
    ['a: {\n  b: "c,\n  d: "e" }\n', 'YAML_QUOTE 2:6'],
    ['a: 1\na: 2\nb: "c\n', 'YAML_QUOTE 3:4'],
  ],
  'keys that change prototypes, at every level': [
    ['__proto__: { a: 1 }\n', 'YAML_FORBIDDEN_KEY 1:1'],
    ['a: { constructor: 1 }\n', 'YAML_FORBIDDEN_KEY 1:6'],
    ['a:\n  - "prototype": 1\n', 'YAML_FORBIDDEN_KEY 2:5'],
  ],
  'files that say nothing': [
    ['', 'YAML_EMPTY 1:1'],
    ['# nothing\n\n', 'YAML_EMPTY 1:1'],
    ['---\n', 'YAML_EMPTY 1:1'],
    ['\u{feff}', 'YAML_EMPTY 1:1'],
    ['~\n', 'YAML_EMPTY 1:1'],
  ],
  'invisible characters': [
    ['a: "\u0007"\n', 'YAML_INVISIBLE 1:5'],
    ['a: b\0c\n', 'YAML_INVISIBLE 1:5'],
    ['a: 1\rb: 2\n', 'YAML_INVISIBLE 1:5'],
    ['a: \u0090\n', 'YAML_INVISIBLE 1:4'],
    ['\u{feff}\u{feff}a: 1\n', 'YAML_BYTE_ORDER_MARK 1:1'],
    ['a: 1\n\u{feff}b: 2\n', 'YAML_BYTE_ORDER_MARK 2:1'],
  ],
  'other faults of syntax, at their place': [
    ['a: { b: ${home}/x }\nc: { d: e }\nf: g\n', 'YAML_UNEXPECTED 1:10'],
    ['a: @b\nc: d: e\n', 'YAML_UNQUOTED_START 1:4', 'YAML_UNQUOTED_COLON 2:4'],
    ['a: !!int b\n', 'YAML_SYNTAX 1:4'],
    ['a: [b, c\nd: e\n', 'YAML_INDENT 2:1'],
    ['a:\n  b: 1\n c: 2\n', 'YAML_INDENT 3:1'],
    ['a: @b/c\n', 'YAML_UNQUOTED_START 1:4'],
    ['a: `b`\n', 'YAML_UNQUOTED_START 1:4'],
    ['a: b: c\n', 'YAML_UNQUOTED_COLON 1:4'],
    ['a\nb: 1\n', 'YAML_SYNTAX 1:1'],
    ['a: "\\q"\n', 'YAML_SYNTAX 1:5'],
    ['a: b#c\nd: "e"#f\n', 'YAML_SYNTAX 2:7'],
  ],
};

for (const [what, rows] of Object.entries(REFUSED)) {
  test(`parseYaml() refuses ${what}`, () => {
    for (const [text, ...expected] of rows) {
      assert.deepEqual(shown(parseYaml('f', text).problems), expected, JSON.stringify(text));
    }
  });
}

test('parseYaml() reports the problems of all kinds in one go', () => {
  const { problems } = parseYaml('f', 'a: &x 1\na: *x\nb: 007\nc: ~\nd: !t 1\n1: e\n');
  const expected = [
    'YAML_ANCHOR',
    'YAML_ALIAS',
    'YAML_TAG',
    'YAML_DUPLICATE_KEY',
    'YAML_LEADING_ZERO',
    'YAML_NULL',
    'YAML_KEY',
  ];
  assert.deepEqual(problems.map(({ code }) => code).sort(), expected.sort());
});

test('parseYaml() reads what YAML 1.2 allows and we do', () => {
  const rows: readonly (readonly [string, unknown])[] = [
    ['---\na: 1\n...\n', { a: 1 }],
    ['a: {\n  b: c\n}\nd: [\n  e\n]\n', { a: { b: 'c' }, d: ['e'] }],
    ['# c\n%YAML 1.2\n---\na: 1\n', { a: 1 }],
    ['a: no\nb: on\nc: y\nd: TRUE\n', { a: 'no', b: 'on', c: 'y', d: true }],
    ['a: 0x10\nb: 0o17\nc: -5\nd: 0\n', { a: 16, b: 15, c: -5, d: 0 }],
    ['a: "1.10"\nb: "~"\nc: ""\n', { a: '1.10', b: '~', c: '' }],
    ['a: !!str 007\n', { a: '007' }],
    ['a:\t1\nb: 2 \t# c\n\t\nc: 3\n', { a: 1, b: 2, c: 3 }],
    ['a: "b\n  c"\nd: e\n', { a: 'b c', d: 'e' }],
    ['a: |\n  b\n  \tc\nd: >-\n  e\n  f\n', { a: 'b\n\tc\n', d: 'e f' }],
    ['a: ~/x/**\nb: ~/src/*\n', { a: '~/x/**', b: '~/src/*' }],
    ['a: "&x *y !z <<"\n', { a: '&x *y !z <<' }],
    ['toString: 1\nhasOwnProperty: 2\n', { toString: 1, hasOwnProperty: 2 }],
  ];
  for (const [text, value] of rows) {
    const { yaml, problems } = parseYaml('f', text);
    assert.deepEqual(shown(problems), [], text);
    assert.deepEqual(yaml?.value, value, text);
  }
});

test('parseYaml() names both lines of a duplicate key', () => {
  const [found] = parseYaml('f', 'a: 1\nb: 2\n"a": 3\n').problems;
  assert.match(found?.message ?? '', /line 1 and again in line 3/);
});

test('parseYaml() shows what to write in place of a merge key', () => {
  const text = 'base: &base\n  access: read-only\n  servers: [a, b]\nx:\n  <<: *base\n';
  const found = parseYaml('f', text).problems.find(({ code }) => code === 'YAML_MERGE_KEY');
  assert.match(found?.message ?? '', /Merge key "<<" is not supported/);
  assert.match(found?.hint ?? '', /access: read-only, servers: \[a, b\]/);
  assert.deepEqual([found?.line, found?.column], [5, 3]);
});

test('parseYaml() says "tab" of a tab, "quote it" of a star and of a tilde', () => {
  assert.match(parseYaml('f', '\ta: 1\n').problems[0]?.message ?? '', /tab/);
  assert.match(parseYaml('f', 'a: *\n').problems[0]?.hint ?? '', /Quote it: "\*"/);
  assert.match(parseYaml('f', 'a: ~\n').problems[0]?.hint ?? '', /Quote it: "~"/);
});

test('parseYaml() mentions an invisible character where a second byte-order mark stands', () => {
  assert.match(parseYaml('f', '\u{feff}\u{feff}a: 1\n').problems[0]?.message ?? '', /Invisible character U\+FEFF/);
});

test('parseYaml() leaves Object.prototype as it was', () => {
  for (const text of [
    '__proto__: { polluted: 1 }\n',
    'constructor: { prototype: { polluted: 1 } }\n',
    '"__proto__": { polluted: 1 }\n',
  ]) {
    parseYaml('f', text);
  }
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});

test('parseYaml() lists a bounded number of problems', () => {
  const { problems } = parseYaml('f', '- *a\n'.repeat(5000));
  assert.equal(problems.length, MAX_PROBLEMS + 1);
  assert.equal(problems.at(-1)?.code, 'TOO_MANY_PROBLEMS');
});

test('parseYaml() refuses deep nesting before anything recurses', () => {
  for (const opening of ['[', '{a: ', '- ', '? ', 'a: ']) {
    const { problems, yaml } = parseYaml('f', opening.repeat(100_000));
    assert.equal(yaml, null);
    assert.equal(problems.at(-1)?.code, 'YAML_DEPTH', opening);
  }
  const stairs = Array.from({ length: 1000 }, (_, i) => `${' '.repeat(i)}a:\n`).join('');
  assert.equal(parseYaml('f', stairs).problems.at(-1)?.code, 'YAML_DEPTH');
});

test('parseYaml() does not expand an alias bomb', () => {
  const names = [...'abcdefghi'];
  const lines = names.map(
    (name, i) =>
      `${name}: &${name} [${Array(9)
        .fill(i === 0 ? 'x' : `*${names[i - 1]}`)
        .join(', ')}]`,
  );
  const before = process.memoryUsage().heapUsed;
  const { problems, yaml } = parseYaml('f', `${lines.join('\n')}\n`);
  assert.ok(process.memoryUsage().heapUsed - before < 20e6);
  assert.equal(problems.filter(({ code }) => code === 'YAML_ANCHOR').length, 9);
  assert.ok(JSON.stringify(yaml?.value).length < 10_000);
});

test('decodeText() refuses what is not UTF-8 at its place', () => {
  const rows: readonly (readonly [Buffer, string, number, number])[] = [
    [Buffer.from([0x61, 0x3a, 0x20, 0xff, 0x0a]), '0xFF', 1, 4],
    [Buffer.concat([Buffer.from('\u{feff}a: 1\nb: é'), Buffer.from([0xc3, 0x28])]), '0xC3', 2, 5],
    [Buffer.from([0x61, 0xe2, 0x82]), '0xE2', 1, 2],
    [Buffer.from([0x61, 0xc0, 0xaf]), '0xC0', 1, 2],
    [Buffer.from([0x61, 0xed, 0xa0, 0x80]), '0xED', 1, 2],
  ];
  for (const [bytes, byte, line, column] of rows) {
    const found = decodeText('f', bytes, 1000);
    assert.ok(typeof found === 'object');
    assert.deepEqual([found.code, found.line, found.column], ['YAML_ENCODING', line, column]);
    assert.match(found.message, new RegExp(byte));
  }
});

test('decodeText() reads a large text of multi-byte characters in one piece', () => {
  const text = `a: "${'äöü€😀'.repeat(25_000)}"\n`;
  assert.equal(decodeText('f', Buffer.from(text), 1024 * 1024), text);
});

test('decodeText() refuses more bytes than the limit', () => {
  const found = decodeText('f', Buffer.alloc(11, 0x61), 10);
  assert.ok(typeof found === 'object' && found.code === 'FILE_TOO_LARGE');
});
