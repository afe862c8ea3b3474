import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runAtOnce } from '../../src/core/steps.ts';
import { putTogether, takeApart } from '../../src/policy/layer-pieces.ts';
import { type ProvenLayer, proveLayer } from '../../src/policy/prove-layer.ts';
import { largePolicy } from '../support/large-policy.ts';
import { EXPANSIONS } from '../support/policy.ts';

function proven(text: string): ProvenLayer {
  return proveLayer({ layer: 'user', files: [{ path: '/p/a.yaml', text }], expansions: EXPANSIONS, upper: [] });
}

describe('putTogether()', () => {
  it('makes the layer that takeApart() was given', () => {
    const texts = [largePolicy(300), 'version: 1\n', 'version: 1\nrules: [{ id: x, allow: [nowhere] }]\n', '{'];
    for (const text of texts) {
      const layer = proven(text);
      assert.deepEqual(runAtOnce(putTogether([...takeApart(layer)])), layer, text.slice(0, 60));
    }
  });
});

describe('takeApart()', () => {
  it('makes pieces of a bounded size', () => {
    const pieces = [...takeApart(proven(largePolicy(1_000)))];
    assert.ok(pieces.length > 5, String(pieces.length));
    for (const piece of pieces) assert.ok(piece.length < 70_000, String(piece.length));
  });
});
