import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RealPath } from '../../src/core/path.ts';
import type { Place } from '../../src/core/place.ts';
import { type Observation, type Standing, settle, settlesAtMs } from '../../src/disk/availability.ts';

const place = (identity: string): Place => ({ path: '/r' as RealPath, identity });
const there = (identity = '1'): Observation => ({ state: 'there', place: place(identity) });
const refused: Observation = { state: 'refused', place: place('1'), why: 'no' };
const absent: Observation = { state: 'absent', place: null, why: 'gone' };

/** What holds after looks at these times, as `yes 1`, `no` with the reason. */
function after(...looks: readonly (readonly [nowMs: number, seen: Observation])[]): string {
  const standing = looks.reduce<Standing | null>((before, [nowMs, seen]) => settle(before, seen, nowMs), null);
  return standing?.available ? `yes ${standing.place?.identity}` : `no ${standing?.why}`;
}

describe('settle()', () => {
  it('lets a root stand for 300 ms of absence, from the first look that missed it', () => {
    assert.equal(after([0, there()]), 'yes 1');
    assert.equal(after([0, absent]), 'no gone');
    assert.equal(after([0, there()], [10, absent], [309, absent]), 'yes 1');
    assert.equal(after([0, there()], [10, absent], [310, absent]), 'no gone');
    assert.equal(after([0, there()], [10, absent], [200, there()], [400, absent]), 'yes 1');
    assert.equal(after([0, there()], [10, absent], [400, absent], [401, there()]), 'yes 1');
  });

  it('lets nothing else stand', () => {
    assert.equal(after([0, there()], [1, refused]), 'no no');
    assert.equal(after([0, there()], [10, absent], [20, refused], [30, absent]), 'no gone');
    assert.equal(after([0, there()], [1, there('2')]), 'yes 2');
    assert.equal(after([0, there()], [10, absent], [20, there('2')]), 'yes 2');
  });
});

describe('settlesAtMs()', () => {
  it('names the end of the 300 ms, while they run', () => {
    const standing = settle(settle(null, there(), 0), absent, 50);
    assert.equal(settlesAtMs(standing), 350);
    assert.equal(settlesAtMs(settle(standing, absent, 350)), null);
    assert.equal(settlesAtMs(settle(standing, there(), 100)), null);
  });
});
