import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RealPath } from '../../../src/core/path.ts';
import { HeldPlaces } from '../../../src/run/guard/held-places.ts';

const HELD = new HeldPlaces([
  { root: 'w', path: '/w', access: 'read-write', carved: ['/w/d/secret'] },
  { root: 'r', path: '/r', access: 'read-only', carved: [] },
]);

/** Path, what may stop reading it, and writing it. */
const ROWS: readonly (readonly [string, string | null, string | null])[] = [
  ['/w', null, 'carved'],
  ['/w/a', null, null],
  ['/wx', 'outside', 'outside'],
  ['/', 'outside', 'outside'],
  ['/r/a', null, 'read-only'],
  ['/w/d/secret', 'carved', 'carved'],
  ['/w/d/secret/x', 'carved', 'carved'],
  ['/w/d/secrets', null, null],
  // What is moved takes along what it holds; a root may be worked in.
  ['/w/d', null, 'carved'],
  ['/w/.rootsd.yaml', null, 'project-file'],
  ['/w/a/.rootsd.yaml', null, null],
];
for (const [path, reading, writing] of ROWS) {
  it(`HeldPlaces: ${path}`, () => {
    const got = (['read', 'work', 'write'] as const).map((use) => HELD.objectionTo(path as RealPath, use));
    assert.deepEqual(got, [reading, path === '/w' ? null : writing, writing]);
  });
}

it('HeldPlaces judges a text as it is written', () => {
  const got = ['/w/x/../a', '/w/../a', '/w/d/secret/..', '/w/d/secret/x'].map((path) => HELD.objectionToText(path));
  assert.deepEqual(got, [null, 'outside', null, 'carved']);
});

it('HeldPlaces lets nothing be used where nothing is held', () => {
  assert.equal(new HeldPlaces([]).objectionTo('/' as RealPath, 'read'), 'outside');
});
