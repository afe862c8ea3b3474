import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRootName } from '../../src/core/place.ts';

test('parseRootName() tells a root, all members of a pattern root, and one of them', () => {
  const rows: [string, boolean, string | undefined][] = [
    ['projects', false, undefined],
    ['projects/*', true, undefined],
    ['projects/x', true, 'x'],
    ['projects/', true, ''],
    ['projects/x/y', true, 'x/y'],
    ['projects/**', true, '**'],
  ];
  for (const [text, hasMember, member] of rows) {
    assert.deepEqual(parseRootName(text), { name: 'projects', hasMember, member }, text);
  }
});
