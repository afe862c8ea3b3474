import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usageErrorOf } from '../../src/commands/usage-error.ts';

test('usageErrorOf() words what the parser says as we do, and keeps its advice', () => {
  const rows: [message: string, what: string, hint: string][] = [
    ["error: unknown option '-x'\n(Did you mean --xy?)", 'unknown option "-x"', 'Did you mean --xy?'],
    ["error: unknown command 'bogus'", 'unknown command "bogus"', 'Try "rootsd help"'],
    [
      "error: too many arguments for 'status'. Expected 0 arguments but got 1.",
      'too many arguments for "status"',
      'Expected 0 arguments but got 1',
    ],
    [
      "error: option '--format <FORMAT>' argument 'a. b' is invalid. Allowed choices are human, json.",
      'option "--format <FORMAT>" argument "a. b" is invalid',
      'Allowed choices are human, json',
    ],
    ["error: unknown command 'a\nb'", 'unknown command "a\nb"', 'Try "rootsd help"'],
  ];
  for (const [message, what, hint] of rows) {
    const error = usageErrorOf(message);
    assert.deepEqual(
      [error.code, error.message, error.hint],
      ['USAGE', `Cannot read the command line: ${what}`, hint],
      message,
    );
  }
});
