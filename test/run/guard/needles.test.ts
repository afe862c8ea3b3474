import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NAMES_PLACES } from '../../../src/core/protocol.ts';
import { mayHoldNeedle } from '../../../src/run/guard/needles.ts';

const NEEDLES = [...NAMES_PLACES, '\\/', '\\u00'];

describe('mayHoldNeedle()', () => {
  it('finds what a search for each finds', () => {
    const words = fc.constantFrom(
      ...NEEDLES,
      'tools/list',
      's/',
      '/',
      '/usr/share/',
      'x',
      '\\',
      '\\n',
      '"',
      'tools',
      'é',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 40 }), (parts) => {
        const line = Buffer.from(parts.join(''));
        assert.equal(
          mayHoldNeedle(line),
          NEEDLES.some((needle) => line.includes(needle)),
        );
      }),
      { numRuns: 5_000 },
    );
  });
});
