import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Interests } from '../../src/disk/interests.ts';

test('in() gives whoever named the entry, and whoever wants all that come and go', () => {
  for (const others of [0, 1, 3]) {
    const interests = new Interests<string>();
    for (let i = 0; i < others; i++) interests.add(`other${i}`, [`o${i}`]);
    interests.add('a', ['x', 'y']);
    interests.add('b', ['x']);
    interests.add('all', null);
    assert.deepEqual([...interests.in('x', false)].sort(), ['a', 'b']);
    assert.deepEqual([...interests.in('y', true)].sort(), ['a', 'all']);
    assert.deepEqual(interests.in('z', false), []);
    assert.equal(interests.everybody().length, others + 3);
  }
});

test('add() adds to what a subject wants already, and delete() takes all of it away', () => {
  for (const first of [[], ['before']]) {
    const interests = new Interests<string>();
    for (const subject of first) interests.add(subject, ['b']);
    interests.add('a', ['x']);
    interests.add('a', ['x', 'y']);
    interests.add('a', null);
    assert.deepEqual(interests.everybody(), [...first, 'a']);
    assert.deepEqual(interests.in('new', true), ['a']);
    assert.equal(new Set(interests.in('y', true)).has('a'), true);
    interests.delete('a');
    assert.deepEqual([interests.in('x', true), interests.in('y', true), interests.in('new', true)], [[], [], []]);
    for (const subject of first) interests.delete(subject);
    assert.equal(interests.isEmpty, true);
  }
});
