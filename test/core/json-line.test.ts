import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RootsError } from '../../src/core/errors.ts';
import { jsonLine } from '../../src/core/json-line.ts';

test('jsonLine() gives every string back as it was, on one line of characters that can be seen', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (key, value) => {
      const line = jsonLine({ [key]: value });
      assert.deepEqual(JSON.parse(line), JSON.parse(JSON.stringify({ [key]: value })));
      assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
});

test('jsonLine() escapes what steers a terminal or cannot be seen', () => {
  const rows: [string, string, string][] = [
    ['a line break', 'a\nb', 'a\\nb'],
    ['an escape sequence', '\x1b[2J', '\\u001b[2J'],
    ['C1 and DEL', '\x7f\x9b', '\\u007f\\u009b'],
    ['bidi controls', '\u202egnp\u2066', '\\u202egnp\\u2066'],
    ['zero width and BOM', '\u200b\ufeff', '\\u200b\\ufeff'],
    ['line and paragraph separator', '\u2028\u2029', '\\u2028\\u2029'],
    ['tag characters, as two escapes', '\u{e0041}', '\\udb40\\udc41'],
    ['a lone surrogate', '\ud800', '\\ud800'],
    ['nothing of ordinary text', 'größe 🔥 日本', 'größe 🔥 日本'],
  ];
  for (const [what, value, written] of rows) assert.equal(jsonLine({ value }), `{"value":"${written}"}`, what);
});

test('jsonLine() writes what JSON cannot, in words', () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const throwing = {
    toJSON() {
      throw new Error('no');
    },
  };
  const line = jsonLine({ big: 12n, circle, throwing, nothing: undefined, last: 1 });
  const unwritable = 'cannot be written as JSON';
  assert.deepEqual(JSON.parse(line), { big: '12', circle: unwritable, throwing: unwritable, last: 1 });
});

test('jsonLine() cuts a string that would fill the disk', () => {
  const { value } = JSON.parse(jsonLine({ value: 'x'.repeat(1_000_000) })) as { value: string };
  assert.ok(value.length < 10_000);
  assert.match(value, /… \(\d+ more\)$/);
});

test('jsonLine() flattens errors: ours by code and hint, the system’s by code, bugs by stack where asked', () => {
  const cause = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
  const ours = new RootsError('DAEMON_UNREACHABLE', { what: 'no socket' }, { cause });
  const parsed = (withStack: boolean) =>
    JSON.parse(jsonLine({ ours, bug: new TypeError('x'), thrown: 'text' }, { withStack }));

  assert.deepEqual(parsed(false), {
    ours: {
      code: 'DAEMON_UNREACHABLE',
      message: 'Cannot reach the daemon: no socket',
      hint: 'Start it with "rootsd serve"',
      cause: { name: 'Error', code: 'EACCES', message: 'EACCES: permission denied' },
    },
    bug: { name: 'TypeError', message: 'x' },
    thrown: 'text',
  });
  assert.match(parsed(true).bug.stack, /TypeError: x\n/);
  assert.equal(parsed(true).ours.stack, undefined);
  assert.equal(parsed(true).ours.cause.stack, undefined);
});

test('jsonLine() ends a chain of causes that is a circle', () => {
  const error = new Error('a');
  error.cause = error;
  assert.ok(jsonLine({ error }).length < 2_000);
});
