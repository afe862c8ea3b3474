// Where problems are, in files with a byte-order mark, CRLF and characters of several units.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml } from '../../src/policy/parse-yaml.ts';
import { compileTexts, shown } from './shown-problems.ts';

const BOM = '\u{feff}';

/** A policy whose problem stands at `line:column`, counted in UTF-16 units without the mark. */
const FILES: readonly (readonly [text: string, expected: string])[] = [
  ['version: 1\nrulez: []\n', 'SCHEMA_UNKNOWN_KEY 2:1'],
  [`${BOM}version: 1\nrulez: []\n`, 'SCHEMA_UNKNOWN_KEY 2:1'],
  ['version: 1\r\nrulez: []\r\n', 'SCHEMA_UNKNOWN_KEY 2:1'],
  [`${BOM}version: 1\r\nrulez: []\r\n`, 'SCHEMA_UNKNOWN_KEY 2:1'],
  ['version: 2\n', 'SCHEMA_VALUE 1:10'],
  [`${BOM}version: 2\n`, 'SCHEMA_VALUE 1:10'],
  [`${BOM}version: 2\r\n`, 'SCHEMA_VALUE 1:10'],
  ['# ünï\nversion: 1\nroots: { "a": { path: "ü" } }\n', 'POLICY_PATH 3:23'],
  ['version: 1\r\nroots:\r\n  a: { path: /é, acess: read-only }\r\n', 'SCHEMA_UNKNOWN_KEY 3:18'],
  ['version: 1\nroots: { a: { path: /😀, acess: x } }\n', 'SCHEMA_UNKNOWN_KEY 2:26'],
  [`${BOM}version: 1\nroots: { a: { path: "/日本", title: 5 } }\n`, 'SCHEMA_QUOTES 2:35'],
  ['version: 1\r\n\r\n# c\r\nroots:\r\n  a:\r\n    path: &x /a\r\n', 'YAML_ANCHOR 6:11'],
  [`${BOM}\r\n\r\nversion: 1\r\nceiling: [~]\r\n`, 'YAML_NULL 4:11'],
  ['version: 1\r\nceiling:\r\n  - "~/ä"\r\n  - *\r\n', 'YAML_STAR 4:5'],
  [`${BOM}version: 1\r\n\trules: []\r\n`, 'YAML_TAB 2:1'],
  [`version: 1\r\nroots:\r\n  a: { path: "/ä }\r\n`, 'YAML_QUOTE 3:14'],
  [`${BOM}version: 1\r\n---\r\nversion: 1\r\n`, 'YAML_SECOND_DOCUMENT 2:1'],
  [`${BOM}version: 1\r\nversion: 1\r\n`, 'YAML_DUPLICATE_KEY 2:1'],
  ['version: 1\r\nroots: { ä: { path: /a }, "ö": { path: /o } }\r\n', 'SCHEMA_PATTERN 2:10'],
  [
    `version: 1\r\nroots:\r\n  a:\r\n    path: /a\r\n    title: >-\r\n      é\r\n      €\r\n    acces: x\r\n`,
    'SCHEMA_UNKNOWN_KEY 8:5',
  ],
  ['version: 1\nroots: { a: { path: /a, title: "a\u{202e}b" } }\n', 'SCHEMA_HIDDEN_CHARACTER 2:32'],
  [`${BOM}# only\r\n# comments\r\n`, 'YAML_EMPTY 1:1'],
];

test('problems stand at the token itself whatever the line ends, the mark and the characters before it', () => {
  assert.ok(FILES.length >= 20);
  for (const [text, expected] of FILES) {
    assert.equal(shown(compileTexts({ 'a.yaml': text }).problems)[0], expected, JSON.stringify(text));
  }
});

test('a byte-order mark and CRLF give the same policy as plain text', () => {
  const plain = 'version: 1\n# c\nroots:\n  a: { path: /srv/a, title: "x y" }\nrules:\n  - id: r\n    allow: [a]\n';
  const read = (text: string) => {
    const { policy, problems } = compileTexts({ 'a.yaml': text });
    assert.deepEqual(shown(problems), []);
    return { ...policy, files: [] };
  };
  const crlf = plain.replaceAll('\n', '\r\n');
  for (const variant of [`${BOM}${plain}`, crlf, `${BOM}${crlf}`]) assert.deepEqual(read(variant), read(plain));
});

test('a range ends where its token ends', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['a: 007\n', '1:4-1:7'],
    ['key: 1\nkey: 2\n', '2:1-2:4'],
    ['a: &anchor 1\n', '1:4-1:11'],
    ['a: [~, b]\n', '1:5-1:6'],
  ];
  for (const [text, expected] of rows) {
    const [found] = parseYaml('f', text).problems;
    assert.ok(found);
    assert.equal(`${found.line}:${found.column}-${found.endLine}:${found.endColumn}`, expected);
  }
});

test('problems of a schema stay at their value when keys are reordered and comments added', () => {
  const one = 'version: 1\nroots:\n  a: { path: /a, nested: no }\n';
  const two = '# first\n\nroots:\n  # second\n  a:\n    nested: no # third\n    path: /a\nversion: 1\n';
  assert.deepEqual(shown(compileTexts({ 'a.yaml': one }).problems), ['SCHEMA_VALUE 3:26']);
  assert.deepEqual(shown(compileTexts({ 'a.yaml': two }).problems), ['SCHEMA_VALUE 6:13']);
});
