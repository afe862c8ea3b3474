import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WireRoot } from '../../src/core/protocol.ts';
import { type ToldMessage, ToldView } from '../../src/core/told-view.ts';

function message(count: number): ToldMessage {
  const names = Array.from({ length: count }, (_, i) => `root-${i}-é`);
  const roots: WireRoot[] = names.map((name) => ({
    uri: `file:///${name}`,
    name,
    _meta: { 'io.rootsd/access': 'read-only' },
  }));
  return {
    generation: 'a1',
    plan: { roots: true } as ToldMessage['plan'],
    roots,
    boundary: names.map((root) => ({ root, path: `/${root}`, access: 'read-only', carved: [] })),
    view: [],
  };
}

describe('ToldView', () => {
  it('says as JSON text what the message says', () => {
    const told = new ToldView(message(2));
    const { roots, boundary, plan, generation } = message(2);
    assert.deepEqual(JSON.parse(told.listJson), { roots });
    assert.deepEqual(JSON.parse(told.viewJson(7)), { serial: 7, ...message(2) });
    const own = { session: '"s"', peer: '{"uid":1}' };
    const attached = { session: 's', generation, peer: { uid: 1 }, roots, boundary, plan };
    assert.deepEqual(JSON.parse(told.attachJson(own)), attached);
  });

  it('makes its parts a step each, and they are the same', () => {
    for (const isWatched of [false, true]) {
      const [told, other] = [new ToldView(message(2)), new ToldView(message(2))];
      assert.equal([...told.makeInSteps({ isWatched })].length, isWatched ? 3 : 2);
      assert.deepEqual([told.listJson, told.viewLine(3)], [other.listJson, other.viewLine(3)]);
    }
  });

  it('gives all sessions the same rest of the line, as bytes where that is long', () => {
    for (const count of [1, 2_000]) {
      const told = new ToldView(message(count));
      const { own, shared } = told.viewLine(3);
      assert.deepEqual(JSON.parse(`{"params":${own}${shared}`), { params: { serial: 3, ...message(count) } });
      assert.equal(told.viewLine(4).shared, shared);
      assert.equal(typeof shared, count === 1 ? 'string' : 'object');
    }
  });
});
