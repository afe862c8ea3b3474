import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Offered, offerFor } from '../../src/core/offers.ts';
import type { RealPath } from '../../src/core/path.ts';

function offer(path: string, access: Offered['access'], carved: readonly string[] = []): Offered {
  return { path, access, carved };
}

const OFFERS: readonly Offered[] = [
  offer('/s', 'read-only', ['/s/cut']),
  offer('/s/a', 'read-write'),
  offer('/s/a/deep', 'read-only'),
  offer('/r', null),
];

for (const [place, access, expected] of [
  ['/s/x', 'read-only', '/s'],
  ['/s', 'read-only', '/s'],
  // The deepest that gives as much.
  ['/s/a/x', 'read-only', '/s/a'],
  ['/s/a/deep/x', 'read-only', '/s/a/deep'],
  ['/s/a/deep/x', 'read-write', '/s/a'],
  ['/s/x', 'read-write', null],
  ['/s/cut/x', 'read-only', null],
  ['/sx', 'read-only', null],
  ['/r/x', 'read-only', 'refused'],
] as const) {
  test(`offerFor() finds ${expected ?? 'nothing'} for ${access} of ${place}`, () => {
    const found = offerFor(OFFERS, place as RealPath, access);
    assert.equal(typeof found === 'object' ? (found?.path ?? null) : found, expected);
  });
}
