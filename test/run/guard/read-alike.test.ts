// What we read is what others read: held against three readers that are not ours, each of another kind.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readAlike } from '../../../src/run/guard/read-alike.ts';
import { READERS } from '../../support/json-readers.ts';

const REFUSED: readonly (readonly [string, string | Buffer])[] = [
  ['a name twice', '{"a":1,"a":1}'],
  ['a name twice, deep', '{"x":[{"y":{"a":1,"b":2,"a":3}}]}'],
  ['a name twice, one behind an escape', '{"path":"/a","\\u0070ath":"/b"}'],
  ['a name of the message in two cases', '{"method":1,"Method":1}'],
  ['a name of the parameters in two cases', '{"params":{"task":1,"tas\u212a":1}}'],
  ['__proto__ twice', '{"__proto__":1,"__proto__":2}'],
  ['names that only differ in lone surrogates', '{"\\ud800":1,"\\udfff":2}'],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
  ['overlong UTF-8 of a slash', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc0, 0xaf, 0x22, 0x7d])],
  ['a surrogate in UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d])],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
  ['a byte order mark', '\ufeff{"a":1}'],
  ['a carriage return between tokens', '{"a":\r{"b":1}\r}'],
  ['not a number', '{"a":NaN}'],
  ['a comment', '{"a":1/* */}'],
  ['a comma too many', '{"a":1,}'],
  ['a control character in a string', '{"a":"\u0000"}'],
  ['two objects', '{"a":1}{"a":2}'],
  ['an array', '[{"a":1}]'],
  ['a word', 'true'],
  ['nothing', ''],
];

describe('readAlike() refuses', () => {
  for (const [what, text] of REFUSED) it(what, () => assert.equal(readAlike(Buffer.from(text)).ok, false));
});

describe('readAlike() reads', () => {
  const ROWS: readonly (readonly [string, string])[] = [
    ['equal names in different objects', '{"a":{"b":1},"c":[{"b":1},{"b":1}]}'],
    ["names in two cases where they are the tool's own", '{"params":{"arguments":{"a":1,"A":1}}}'],
    ['colons in strings', '{"a:b":"c:\\":d\\\\","e":":"}'],
    ['a line end of either kind', '{"a":1}\r\n'],
    ['large numbers', '{"a":1e400,"b":123456789012345678901234567890}'],
    ['NUL and lone surrogates in values', '{"a":"\\u0000\\ud800"}'],
    ['raw line separators', '{"a":"\u2028\u0085"}'],
  ];
  for (const [what, text] of ROWS) {
    it(what, () => {
      const read = readAlike(Buffer.from(text));
      assert.ok(read.ok);
      assert.deepEqual(JSON.stringify(read.value), JSON.stringify(JSON.parse(text)));
    });
  }
});

it('readAlike() reads 100,000 levels', () => {
  const read = readAlike(Buffer.from(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`));
  assert.equal(read.ok, true);
});

/** Equal for texts of the same value: names sorted, every string and number as this process writes it. */
function canonical(text: string): string {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    return Object.entries(value)
      .map(([name, member]) => [name, sorted(member)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  };
  return JSON.stringify(sorted(JSON.parse(text)));
}

const name = fc.constantFrom(
  'path',
  'a',
  'B',
  'b',
  '__proto__',
  'constructor',
  '\\u0070ath',
  'p\\u0061th',
  'é',
  '\\u00e9',
);
const scalar = fc.oneof(
  fc.constantFrom('0', '-1', '1.5', 'true', 'null', '"/etc/passwd"', '"\\/etc"', '"\\u002fetc"', '""'),
  fc.string({ unit: 'grapheme', maxLength: 6 }).map((text) => JSON.stringify(text)),
);
const { object: randomObject } = fc.letrec<{ text: string; object: string }>((tie) => ({
  object: fc
    .array(fc.tuple(name, tie('text')), { maxLength: 4 })
    .map((members) => `{${members.map(([key, value]) => `"${key}": ${value}`).join(',')}}`),
  text: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('text'), { maxLength: 3 }).map((items) => `[${items.join(' ,')}]`),
    tie('object'),
    tie('object'),
  ),
}));
/** Mostly whole, sometimes with a byte changed or something around it. */
const randomLine = fc
  .tuple(
    randomObject,
    fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.tuple(fc.nat(), fc.nat(255))),
    fc.constantFrom('', '', '', '\ufeff', ' '),
  )
  .map(([text, damage, before]) => {
    const bytes = Buffer.from(before + text);
    if (damage !== null && bytes.length > 0) bytes[damage[0] % bytes.length] = damage[1];
    return bytes;
  });

it('readAlike() reads what Python, Perl and YAML read, wherever it reads at all', () => {
  const random = fc.sample(randomLine, 4_000);
  const given = [...REFUSED.map(([, text]) => Buffer.from(text)), ...random].filter((text) => !text.includes(0x0a));
  const read = given.flatMap((text) => {
    const result = readAlike(text);
    return result.ok ? [{ text, value: canonical(JSON.stringify(result.value)) }] : [];
  });
  assert.ok(read.length > 500, `only ${read.length} were read`);
  const texts = read.map(({ text }) => text);
  for (const [reader, readAll] of Object.entries(READERS)) {
    const others = readAll(texts);
    for (const [i, { text, value }] of read.entries()) {
      assert.equal(canonical(others[i] ?? ''), value, `${reader}: ${text.toString('latin1')}`);
    }
  }
});
