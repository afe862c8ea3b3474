import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileTexts, problemsIn } from './shown-problems.ts';

/** `CODE text` of each problem of a prompt, with the text that it points at. */
function promptProblems(body: string): string[] {
  const text = `version: 1\nprompts:\n  p: { template: "x", ${body} }\n`;
  const lines = text.split('\n');
  return compileTexts({ 'a.yaml': text }).problems.map(
    ({ code, line, column, endColumn }) => `${code} ${lines[line - 1]?.slice(column - 1, endColumn - 1)}`,
  );
}

test('compilePrompts() refuses references that lead nowhere', () => {
  const rows: readonly (readonly [string, ...string[]])[] = [
    ['arguments: { a: { values: { x: [y] }, depends-on: b } }', 'POLICY_PROMPT b'],
    ['arguments: { a: { values: { x: [y] }, depends-on: a } }', 'POLICY_PROMPT a'],
    [
      'arguments: { a: { values: { x: [y] }, depends-on: b }, b: { values: { y: [x] }, depends-on: a } }',
      'POLICY_PROMPT b',
      'POLICY_PROMPT a',
    ],
    ['arguments: { a: { values: { x: [y] } } }', 'POLICY_PROMPT { x: [y] }'],
    ['arguments: { a: { values: [x], depends-on: b }, b: {} }', 'POLICY_PROMPT b'],
    ['arguments: { a: { values: { x: [y], zz: [y] }, depends-on: b }, b: { values: [x, y] } }', 'POLICY_PROMPT zz'],
    ['arguments: { a: { paths: files, within: b } }', 'POLICY_PROMPT b'],
    ['arguments: { a: { paths: files, within: b }, b: {} }', 'POLICY_PROMPT b'],
    ['arguments: { a: { glob: "*.ts" } }', 'POLICY_PROMPT "*.ts"'],
    ['arguments: { a: { within: b }, b: { roots: true } }', 'POLICY_PROMPT b'],
    ['arguments: { a: { roots: true, paths: any } }', 'POLICY_PROMPT { roots: true, paths: any }'],
  ];
  for (const [body, ...expected] of rows) assert.deepEqual(promptProblems(body), expected, body);
});

test('compilePrompts() refuses placeholders that are no argument', () => {
  const withTemplate = (template: string) =>
    problemsIn(`prompts:\n  p: { template: "${template}", arguments: { a: {} } }\n`);
  assert.deepEqual(withTemplate('Do {a} {b}'), ['POLICY_PROMPT 3:18']);
  assert.deepEqual(withTemplate('Do {a} { } {}'), []);
});

test('compilePrompts() refuses what the grammar does not have', () => {
  const rows: readonly (readonly [string, ...string[]])[] = [
    ['arguments: { a: { values: [] } }', 'SCHEMA_EMPTY []'],
    ['arguments: { a: { values: x } }', 'SCHEMA_LIST x'],
    ['arguments: { a: { values: [5] } }', 'SCHEMA_QUOTES 5'],
    ['arguments: { a: { values: [{ value: x, visible: {} }] } }', 'SCHEMA_UNKNOWN_KEY visible'],
    ['arguments: { "a b": {} }', 'SCHEMA_PATTERN "a b"'],
    ['visible-to: {}', 'SCHEMA_EMPTY {}'],
    ['visible-to: { servers: [] }', 'SCHEMA_EMPTY []'],
    ['arguments: { a: { paths: all } }', 'SCHEMA_VALUE all'],
  ];
  for (const [body, ...expected] of rows) assert.deepEqual(promptProblems(body), expected, body);
  assert.deepEqual(problemsIn('prompts: { p: {} }\n'), ['SCHEMA_MISSING_KEY 2:12']);
});

test('compilePrompts() warns of a name in visible-to that is close to a declared one', () => {
  const body = 'servers: { filesystem: {} }\nprompts:\n  p: { template: x, visible-to: { servers: [filesystme] } }\n';
  assert.deepEqual(problemsIn(body), ['warning POLICY_NEAR_NAME 4:45']);
});
