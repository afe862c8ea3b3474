import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Settling, STABLE_MS } from '../../src/core/settling.ts';

/** Feeds looks `[atMs, signature]` and gives back what came of each: `quiet`, `changed` or the wait in ms. */
function feed(settling: Settling, looks: readonly (readonly [number, string])[]): (string | number)[] {
  return looks.map(([atMs, signature]) => {
    const settled = settling.observe(signature, atMs);
    return settled.state === 'unsettled' ? settled.lookAgainInMs : settled.state;
  });
}

test('Settling tells a change once, when it has looked the same for 150 ms', () => {
  type Row = [string, (readonly [number, string])[], (string | number)[]];
  const rows: Row[] = [
    [
      'nothing changed',
      [
        [0, 'a'],
        [5_000, 'a'],
      ],
      ['quiet', 'quiet'],
    ],
    [
      'one change',
      [
        [1_000, 'b'],
        [1_149, 'b'],
        [1_150, 'b'],
        [1_151, 'b'],
      ],
      [150, 1, 'changed', 'quiet'],
    ],
    [
      'one change, seen late again',
      [
        [0, 'b'],
        [9_000, 'b'],
      ],
      [150, 'changed'],
    ],
    [
      'each change starts the 150 ms anew',
      [
        [0, 'b'],
        [100, 'c'],
        [150, 'c'],
        [250, 'c'],
      ],
      [150, 150, 100, 'changed'],
    ],
    [
      'two changes, told twice',
      [
        [0, 'b'],
        [150, 'b'],
        [151, 'c'],
        [301, 'c'],
      ],
      [150, 'changed', 150, 'changed'],
    ],
    [
      'gone and back as it was',
      [
        [0, ''],
        [100, 'a'],
        [250, 'a'],
        [251, 'a'],
      ],
      [150, 150, 'quiet', 'quiet'],
    ],
    [
      'truncated for 100 ms, then written',
      [
        [0, ''],
        [100, 'b'],
        [150, 'b'],
        [250, 'b'],
      ],
      [150, 150, 100, 'changed'],
    ],
  ];
  for (const [name, looks, expected] of rows) assert.deepEqual(feed(new Settling('a', -1_000), looks), expected, name);
});

test('Settling tells at least every 2 s what is rewritten every 100 ms for 10 s, and then the last state', () => {
  const settling = new Settling('', 0);
  const told: number[] = [];
  let signature = '';
  for (let atMs = 0; atMs <= 12_000; atMs += 10) {
    if (atMs % 100 === 0 && atMs <= 10_000) signature = `${atMs}`;
    if (settling.observe(signature, atMs).state === 'changed') told.push(atMs);
  }
  assert.deepEqual(told, [1_800, 3_700, 5_600, 7_500, 9_400, 10_000 + STABLE_MS]);
  assert.ok(told.every((at, i) => at - (told[i - 1] ?? 0) <= 2_000));
});

test('forget() makes Settling tell again what has not changed', () => {
  const settling = new Settling('a', 0);
  assert.deepEqual(
    feed(settling, [
      [1_000, 'b'],
      [1_150, 'b'],
    ]),
    [150, 'changed'],
  );
  settling.forget();
  assert.deepEqual(
    feed(settling, [
      [2_000, 'b'],
      [2_001, 'b'],
    ]),
    ['changed', 'quiet'],
  );
});
