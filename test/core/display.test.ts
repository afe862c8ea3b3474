import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { escapeForTerminal, hasControlOrBidi, toJson } from '../../src/core/display.ts';

describe('escapeForTerminal()', () => {
  it('shows what hides or moves, and leaves the rest', () => {
    const rows: readonly (readonly [text: string, shown: string])[] = [
      ['plain ~/päth 日本 😀 \\ "q"', 'plain ~/päth 日本 😀 \\ "q"'],
      ['a\nb\tc\rd', 'a\\nb\\tc\\rd'],
      ['\u001b[31mred\u0007', '\\x1b[31mred\\x07'],
      ['\u0000\u007f\u0085\u009b', '\\x00\\x7f\\x85\\x9b'],
      ['abc\u202etxt', 'abc\\u202etxt'],
      ['\u2066x\u2069\u200f\u061c', '\\u2066x\\u2069\\u200f\\u061c'],
      ['zero\u200bwidth\ufeff\u00ad', 'zero\\u200bwidth\\ufeff\\xad'],
      ['tag\u{e0041}', 'tag\\u{e0041}'],
      ['\u2028\u2029', '\\u2028\\u2029'],
      ['no\u00a0break\u3000\u2800', 'no\\xa0break\\u3000\\u2800'],
      ['lone\ud800', 'lone\\ud800'],
    ];
    for (const [text, shown] of rows) assert.equal(escapeForTerminal(text), shown);
  });
});

describe('toJson()', () => {
  it('writes hidden characters as escapes and means the same value', () => {
    const value = { 'k\u202e': ['\u001b[0m', 'x\u009by\u{e0041}', 'ä\n'] };
    const json = toJson(value);
    assert.match(json, /^[\x20-\x7eä]*$/);
    assert.deepEqual(JSON.parse(json), value);
    assert.deepEqual(JSON.parse(toJson(value, 2)), value);
    assert.match(toJson({ a: 1 }, 2), /^\{\n {2}"a": 1\n\}$/);
  });
});

describe('hasControlOrBidi()', () => {
  it('knows control, line-breaking and bidirectional characters and lone surrogates', () => {
    for (const text of ['a\n', '\u007f', '\u0085', '\u2028', '\u202a', '\u2067', '\u200e', '\u061c', '\udc00']) {
      assert.equal(hasControlOrBidi(text), true, JSON.stringify(text));
    }
    for (const text of ['', 'a b', 'ä', '日本', '😀', 'a\u200db']) assert.equal(hasControlOrBidi(text), false);
  });
});
