import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Problem, problem } from '../../src/core/errors.ts';
import { formatProblem, problemLine } from '../../src/policy/format-problem.ts';
import { githubAnnotation, sarifLog } from '../../src/policy/report-problems.ts';
import { compileTexts } from './shown-problems.ts';

function firstProblem(text: string): Problem {
  const [first] = compileTexts({ 'p/a.yaml': text }).problems;
  assert.ok(first);
  return first;
}

test('formatProblem() prints place, severity, message and code, the lines around, and a hint', async () => {
  const text = 'version: 1\nroots:\n  a: { path: /a, acess: read-only }\nrules: []\n';
  assert.deepEqual((await formatProblem(firstProblem(text), { text })).split('\n'), [
    'p/a.yaml:3:18: error: Key "acess" is not known in "a" [SCHEMA_UNKNOWN_KEY]',
    '  1 | version: 1',
    '  2 | roots:',
    '> 3 |   a: { path: /a, acess: read-only }',
    '    |                  ^^^^^',
    '  4 | rules: []',
    '  5 |',
    '  hint: Did you mean "access"?',
  ]);
});

test('formatProblem() shows no lines where it has no text or the whole file is meant', async () => {
  const one = firstProblem('version: 1\nrulez: []\n');
  assert.equal((await formatProblem(one)).split('\n').length, 2);
  const empty = firstProblem('# nothing\n');
  assert.doesNotMatch(await formatProblem(empty, { text: '# nothing\n' }), /nothing\n/);
});

test('formatProblem() points at the right column behind a mark, CRLF and escaped characters', async () => {
  const text = '\u{feff}version: 1\r\n# \u{1b}[31m\u{202e}\r\nroots: { a: { path: "/\u{1b}[0m" } }\r\n';
  const found = problem(
    'POLICY_PATH',
    { file: 'a', line: 3, column: 21, endLine: 3, endColumn: 29 },
    { path: 'x', why: 'y' },
  );
  const lines = (await formatProblem(found, { text })).split('\n');
  assert.equal(lines[1], '  1 | version: 1');
  assert.equal(lines[2], '  2 | # \\x1b[31m\\u202e');
  assert.equal(lines[3], '> 3 | roots: { a: { path: "/\\x1b[0m" } }');
  assert.equal(lines[4], `    | ${' '.repeat(20)}${'^'.repeat(11)}`);
});

test('formatProblem() prints nothing that moves the cursor, wherever it comes from', async () => {
  const text = 'version: 1\n"\\e[2J\\u202e": 1\n';
  const printed = `${await formatProblem({ ...firstProblem(text), file: 'a\u{1b}[2J.yaml' }, { text })}`;
  assert.doesNotMatch(printed, /[\u{1b}\u{202e}]/u);
  assert.match(printed, /^a\\x1b\[2J\.yaml:2:1: error: Key "\\x1b\[2J\\u202e"/);
});

test('formatProblem() keeps a very long line short', async () => {
  const text = `version: 1\nroots: { a: { path: /${'x'.repeat(5000)}, acess: y } }\n`;
  const printed = await formatProblem(firstProblem(text), { text });
  assert.ok(printed.split('\n').every((line) => line.length < 300));
});

test('formatProblem() uses colours only when told to', async () => {
  const text = 'version: 2\n';
  assert.doesNotMatch(await formatProblem(firstProblem(text), { text }), /\u{1b}/u);
  assert.match(await formatProblem(firstProblem(text), { text, color: true }), /\u{1b}\[/u);
});

test('problemLine() is one line whatever the message holds', () => {
  const found = problem(
    'YAML_SYNTAX',
    { file: 'a', line: 1, column: 2, endLine: 1, endColumn: 3 },
    { what: 'x\ny' },
    'warning',
  );
  assert.equal(problemLine(found), 'a:1:2: warning: Not YAML: x\\ny [YAML_SYNTAX]');
});

test('githubAnnotation() escapes what ends a property or a line', () => {
  const at = { file: 'a,b:c.yaml', line: 1, column: 2, endLine: 1, endColumn: 3 };
  const line = githubAnnotation(problem('YAML_SYNTAX', at, { what: '100%\nx' }));
  assert.equal(
    line,
    '::error file=a%2Cb%3Ac.yaml,line=1,endLine=1,col=2,endColumn=3,title=YAML_SYNTAX::Not YAML: 100%25%0Ax',
  );
});

test('sarifLog() lists each code once and each problem with its region', () => {
  const { problems } = compileTexts({ '/p/a b.yaml': 'version: 2\nrulez: []\nrulse: []\n' });
  const log = sarifLog(problems, '0.1.0') as {
    readonly runs: readonly {
      readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
      readonly results: readonly { readonly ruleId: string; readonly locations: readonly unknown[] }[];
    }[];
  };
  const [run] = log.runs;
  assert.deepEqual(
    run?.tool.driver.rules.map(({ id }) => id),
    ['SCHEMA_VALUE', 'SCHEMA_UNKNOWN_KEY'],
  );
  assert.deepEqual(
    run?.results.map(({ ruleId }) => ruleId),
    ['SCHEMA_VALUE', 'SCHEMA_UNKNOWN_KEY', 'SCHEMA_UNKNOWN_KEY'],
  );
  assert.deepEqual(run?.results[0]?.locations[0], {
    physicalLocation: {
      artifactLocation: { uri: 'file:///p/a%20b.yaml' },
      region: { startLine: 1, startColumn: 10, endLine: 1, endColumn: 11 },
    },
  });
});
