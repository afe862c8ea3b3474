import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readPathValue, splitTyped, toPathValue } from '../../src/core/path-value.ts';

test('toPathValue() encodes every byte but unreserved ones and slashes; directories end in one', () => {
  const rows: [path: string, kind: 'directory' | 'file', value: string][] = [
    ['/a/b', 'directory', 'a/b/'],
    ['/a/b', 'file', 'a/b'],
    ['/', 'directory', ''],
    ["/ä #?%!'()*~", 'file', '%C3%A4%20%23%3F%25%21%27%28%29%2A~'],
    ['/a\nb', 'file', 'a%0Ab'],
  ];
  for (const [path, kind, value] of rows) assert.equal(toPathValue(path, kind), value);
});

test('readPathValue() reads what is typed, also half of a character', () => {
  const rows: [typed: string, directory: string, name: string][] = [
    ['', '/', ''],
    ['/', '/', ''],
    ['a', '/', 'a'],
    ['a/', '/a', ''],
    ['/a/b%20c/d', '/a/b c', 'd'],
    ['a/ä', '/a', 'ä'],
    ['a/x%', '/a', 'x'],
    ['a/x%2', '/a', 'x'],
    ['a/x%C3', '/a', 'x'],
    ['a/x%C3%A4', '/a', 'xä'],
    ['a/x%F0%9F%98', '/a', 'x'],
  ];
  for (const [typed, directory, name] of rows) assert.deepEqual(readPathValue(typed), { directory, name }, typed);
});

test('readPathValue() says of what no path begins with that it is none', () => {
  for (const typed of [
    'a%2Fb',
    'a%00',
    '%FFa',
    'a//b',
    'a/../b',
    '../a',
    './a',
    'a/./b',
    'a\0',
    '%2e%2e/a',
    '\ud800',
  ]) {
    assert.equal(readPathValue(typed), null, typed);
  }
});

test('what toPathValue() gives reads back as the directory that it is', () => {
  const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((text) => {
    return !/[/\0]|^\.{1,2}$/u.test(text) && !/\p{Cs}/u.test(text);
  });
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
      const directory = `/${names.join('/')}`;
      assert.deepEqual(readPathValue(toPathValue(directory, 'directory')), { directory, name: '' });
      assert.deepEqual(splitTyped(directory), readPathValue(toPathValue(directory, 'file')));
    }),
  );
});
