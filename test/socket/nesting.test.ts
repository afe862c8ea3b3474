import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTooDeep, MAX_NESTING } from '../../src/socket/nesting.ts';

const filled = (text: string): Buffer => Buffer.from(text.padEnd(4 * 1024 * 1024));
const nested = (depth: number, inside = ''): string =>
  `${'[{"a":'.repeat(depth / 2)}${inside || 0}${'}]'.repeat(depth / 2)}`;

test('isTooDeep() counts brackets and braces that are open at once', () => {
  const rows: readonly [says: string, text: string, tooDeep: boolean][] = [
    ['as deep as may be', nested(MAX_NESTING), false],
    ['two deeper', nested(MAX_NESTING + 2), true],
    ['many beside each other', `[${'[],{},'.repeat(10_000)}0]`, false],
    ['in a string', nested(MAX_NESTING, `"${'['.repeat(500)}"`), false],
    ['in a string behind an escaped quote', nested(MAX_NESTING, `"\\"${'['.repeat(500)}"`), false],
    ['behind a string that ends with a backslash', `["\\\\",${nested(MAX_NESTING)}]`, true],
    ['never closed', '['.repeat(2_000_000), true],
  ];
  for (const [says, text, tooDeep] of rows) assert.equal(isTooDeep(filled(text)), tooDeep, says);
});

test('isTooDeep() does not look at what is short', () => assert.equal(isTooDeep(Buffer.from('['.repeat(500))), false));
