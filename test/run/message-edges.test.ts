import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readHead, readTailId } from '../../src/run/message-edges.ts';

// What is read byte by byte, as expressions.
const ID = '-?(?:0|[1-9][0-9]{0,14})|"[ !#-\\[\\]-~]*"';
const VERSION = '(?:"jsonrpc": ?"2\\.0", ?)?';
const HEAD = new RegExp(
  `^\\{ ?${VERSION}(?:"id": ?(${ID}), ?)?${VERSION}"(?:(?:result|error)": ?[{\\["\\dntf]|method": ?"([ !#-\\[\\]-~]*)" ?(?:\\}|, ?(?:"id": ?(${ID}) ?[,}])?))`,
);
const TAIL = new RegExp(`[,{] ?"id": ?(${ID}) ?(?:, ?"jsonrpc": ?"2\\.0" ?)?\\}\\r?\\n?$`);

function headByExpression(line: Buffer) {
  const match = HEAD.exec(line.toString('latin1', 0, 512));
  return match === null ? null : { id: match[1] ?? match[3] ?? null, method: match[2] ?? null };
}

function tailByExpression(line: Buffer): string | null {
  return TAIL.exec(line.toString('latin1', Math.max(0, line.length - 512)))?.[1] ?? null;
}

const ids = fc.oneof(
  fc.constantFrom(
    '1',
    '0',
    '-0',
    '-7',
    '01',
    '123456789012345',
    '1234567890123456',
    '"a"',
    '"',
    '""',
    '"a\\"',
    '1.5',
    'null',
  ),
  fc.constantFrom(`"${'i'.repeat(490)}"`, `"${'i'.repeat(520)}"`, '"ü"', '"\u007f"'),
);
const members = fc.oneof(
  ids.map((id) => `"id":${id}`),
  ids.map((id) => `"id": ${id}`),
  fc.constantFrom('"jsonrpc":"2.0"', '"jsonrpc": "2.0"', '"jsonrpc":"1.0"', '"method":"tools/call"', '"method": "a"'),
  fc.constantFrom('"method":""', '"method":"a\\/b"', '"result":{}', '"result": [1]', '"error":null', '"result":-1'),
  fc.constantFrom('"params":{"id":1}', `"params":"${'x'.repeat(600)}"`, '"x":"\\",\\"id\\":1"', '"x":{"id":2}'),
);
const gaps = fc.constantFrom('', '', '', ' ', '  ');
const lines = fc
  .tuple(
    fc.constantFrom('{', '{', '{ ', '[{', ''),
    fc.array(fc.tuple(members, gaps, gaps), { maxLength: 5 }),
    fc.constantFrom('}', '}', ' }', '}}', ''),
    fc.constantFrom('', '\n', '\r\n', '\r', '\n\n'),
  )
  .map(([open, all, close, end]) => {
    const inside = all.map(([member, before, after], i) => (i === 0 ? member : `${before},${after}${member}`)).join('');
    return Buffer.from(open + inside + close + end, 'latin1');
  });

describe('readHead(), readTailId()', () => {
  it('read what the expressions match, and nothing else', () => {
    fc.assert(
      fc.property(lines, fc.nat(), (line, cut) => {
        for (const some of [line, line.subarray(0, cut % (line.length + 1)), line.subarray(cut % (line.length + 1))]) {
          assert.deepEqual(readHead(some), headByExpression(some), some.toString());
          assert.equal(readTailId(some), tailByExpression(some), some.toString());
        }
      }),
      { numRuns: 20_000 },
    );
  });

  it('read what all SDKs write', () => {
    const request = Buffer.from('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}\n');
    assert.deepEqual(readHead(request), { method: 'tools/call', id: '7' });
    const answer = Buffer.from('{"result":{"content":[]},"jsonrpc":"2.0","id":"a-1"}\n');
    assert.deepEqual(readHead(answer), { method: null, id: null });
    assert.equal(readTailId(answer), '"a-1"');
    assert.deepEqual(readHead(Buffer.from('{"method":"ping","jsonrpc":"2.0","id":3}')), { method: 'ping', id: null });
    assert.equal(readTailId(Buffer.from('{"method":"ping","id":3,"jsonrpc":"2.0"}')), '3');
  });

  it('look at no more than 512 bytes of either end', () => {
    const id = `"${'i'.repeat(600)}"`;
    assert.equal(readHead(Buffer.from(`{"id":${id},"method":"a"}`)), null);
    assert.equal(readTailId(Buffer.from(`{"method":"a","id":${id}}`)), null);
  });
});
