import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldBytes } from '../../src/socket/held-bytes.ts';

function holders(held: HeldBytes, ended: string[]) {
  const named = new Map<string, { endAsLargest(): void }>();
  return (name: string, bytes: number) => {
    const holder = named.get(name) ?? { endAsLargest: () => void ended.push(name) };
    named.set(name, holder);
    held.set(holder, bytes);
  };
}

test('HeldBytes ends whoever holds the most once all together hold too much, and nobody else', () => {
  const ended: string[] = [];
  const set = holders(new HeldBytes(100), ended);
  set('a', 40);
  set('b', 50);
  set('c', 10);
  assert.deepEqual(ended, []);
  set('c', 11);
  assert.deepEqual(ended, ['b']);
  set('d', 49);
  assert.deepEqual(ended, ['b'], 'what it held is free again');
  set('d', 1);
  set('e', 1000);
  assert.deepEqual(ended, ['b', 'e']);
});

test('HeldBytes counts what is let go of', () => {
  const ended: string[] = [];
  const set = holders(new HeldBytes(100), ended);
  for (let i = 0; i < 1000; i += 1) {
    set('a', 90);
    set('a', 0);
  }
  set('b', 100);
  assert.deepEqual(ended, []);
});
