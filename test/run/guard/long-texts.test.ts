import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { withoutLongTexts } from '../../../src/run/guard/long-texts.ts';
import { isText } from '../../../src/run/guard/named-paths.ts';
import { readAlike } from '../../../src/run/guard/read-alike.ts';

const LONG = 'x'.repeat(5_000);
const ofText = (property: string) => isText(property, new Set());

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The value with nothing in its texts. */
function emptied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(emptied);
  const members = Object.entries(value).map(([name, member]) => [
    name,
    ofText(name) && typeof member === 'string' ? '' : emptied(member),
  ]);
  return Object.fromEntries(members);
}

describe('withoutLongTexts()', () => {
  const ROWS: readonly (readonly [string, string, string])[] = [
    ['a long text', `{"text":"${LONG}"}`, '{"text":""}'],
    [
      'several, with blanks about',
      `{"a":{ "Old_Text" : "${LONG}" ,"code":"${LONG}"}}`,
      '{"a":{ "Old_Text" : "" ,"code":""}}',
    ],
    ['nothing of another property', `{"html":"${LONG}"}`, `{"html":"${LONG}"}`],
    ['nothing of a list', `{"text":["${LONG}"]}`, `{"text":["${LONG}"]}`],
    ['no name', `{"text":1,"${LONG}":1}`, `{"text":1,"${LONG}":1}`],
    ['nothing short', `{"text":"/etc","b":"${LONG}"}`, `{"text":"/etc","b":"${LONG}"}`],
    ['a name behind an escape', `{"\\u0074ext":"${LONG}"}`, '{"\\u0074ext":""}'],
    ['nothing of a name that only looks like one', `{"\\text":"${LONG}"}`, `{"\\text":"${LONG}"}`],
  ];
  for (const [what, line, expected] of ROWS) {
    it(`leaves out ${what}`, () => assert.equal(String(withoutLongTexts(Buffer.from(line), ofText)), expected));
  }

  it('finds the end of a string wherever it lies in memory', () => {
    for (let offset = 0; offset < 8; offset++) {
      for (let length = 4_097; length < 4_110; length++) {
        const line = Buffer.from(`${' '.repeat(offset)}{"text":"${'x'.repeat(length)}","path":"/etc"}`);
        assert.equal(String(withoutLongTexts(line.subarray(offset), ofText)), '{"text":"","path":"/etc"}');
      }
    }
  });
});

const pieces = fc.oneof(
  fc.constantFrom(
    '\\n',
    '\\"',
    '\\\\',
    '\\/',
    '\\u00e9',
    '\\ud800',
    '\\uD83D\\uDE00',
    'é',
    '世',
    '😀',
    '\u2028',
    '\u007f',
    ':',
    '{',
    '/etc/passwd',
  ),
  fc.constantFrom(
    '\\u00g0',
    '\\u00fg',
    '\\u12',
    '\\x',
    '\\',
    '"',
    '\t',
    '\u0000',
    '\u001f',
    '","path":"/etc',
    '\\u00"',
  ),
  fc.string({ maxLength: 6 }),
);
const strings = fc
  .tuple(fc.nat({ max: 9_000 }), fc.array(pieces, { maxLength: 3 }), fc.nat({ max: 20 }))
  .map(([before, middle, after]) => 'x'.repeat(before) + middle.join('') + 'y'.repeat(after));
const names = fc.constantFrom('text', 'content', 'TEXT', '\\u0074ext', '\\text', 'te\\nxt', 'path', 'a', 'b', 'data');
const objects = fc
  .array(fc.tuple(names, strings, fc.constantFrom('', ' ')), { maxLength: 4 })
  .map((members) => `{${members.map(([name, value, gap]) => `"${name}"${gap}:${gap}"${value}"`).join(',')}}`);

it('readAlike() takes a line with long texts for what it takes it for without them', () => {
  let [taken, refused] = [0, 0];
  fc.assert(
    fc.property(objects, fc.constantFrom('{"params":{"arguments":', '{"x":[', '{"a":'), (object, open) => {
      const text = `${open}${object}${open.includes('[') ? ']}' : open.includes('params') ? '}}' : '}'}`;
      const [plain, sparing] = [readAlike(Buffer.from(text)), readAlike(Buffer.from(text), ofText)];
      assert.equal(sparing.ok, plain.ok, text);
      if (!plain.ok || !sparing.ok) {
        assert.equal(!sparing.ok && sparing.why, !plain.ok && plain.why);
        refused += 1;
        return;
      }
      assert.ok(isJson(text));
      assert.deepEqual(emptied(sparing.value), emptied(plain.value));
      taken += 1;
    }),
    { numRuns: 3_000 },
  );
  assert.ok(taken > 300 && refused > 300, `${taken} taken, ${refused} refused`);
});
