import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decide } from '../../src/core/decide.ts';
import type { Decision } from '../../src/core/decision.ts';
import {
  evidenceOf,
  factsOf,
  peerOf,
  type RandomPeer,
  type RandomWorld,
  randomCeiling,
  randomDenial,
  randomPeer,
  randomWorld,
} from '../support/random-policy.ts';
import { referenceDecision } from '../support/reference-decision.ts';

const RUNS = { numRuns: 3000 };

function decideAll(world: RandomWorld, peer: RandomPeer): Map<string, Decision> {
  const evidence = evidenceOf(world);
  return new Map(
    world.roots.map((root) => [root.name, decide(evidence, peerOf(peer), factsOf(root), { carves: false })]),
  );
}

const RANK = { deny: 0, ask: 1, allow: 2 };

function width(decision: Decision | undefined): number {
  assert.ok(decision);
  return RANK[decision.effect] * 2 + (decision.access === 'read-write' ? 1 : 0);
}

function assertNotWider(before: Map<string, Decision>, after: Map<string, Decision>): void {
  for (const [name, decision] of after) {
    assert.ok(width(decision) <= width(before.get(name)), `${name}: ${decision.why}`);
  }
}

describe('decide() on random policies', () => {
  it('equals the brute-force reference', () => {
    fc.assert(
      fc.property(randomWorld, randomPeer, (world, peer) => {
        for (const [name, { effect, kind, access }] of decideAll(world, peer)) {
          const root = world.roots.find((one) => one.name === name);
          assert.ok(root);
          assert.deepEqual({ effect, kind, access }, referenceDecision(world, peer, root), name);
        }
      }),
      RUNS,
    );
  });

  it('does not depend on the order of rules, roots and ceilings', () => {
    const shuffled = fc.tuple(randomWorld, fc.infiniteStream(fc.nat(1000))).map(([world, dice]) => ({
      world,
      other: {
        roots: shuffle(world.roots, dice),
        rules: shuffle(world.rules, dice),
        ceilings: shuffle(world.ceilings, dice),
      },
    }));
    fc.assert(
      fc.property(shuffled, randomPeer, ({ world, other }, peer) => {
        const again = decideAll(other, peer);
        for (const [name, decision] of decideAll(world, peer)) {
          const { rule, ...rest } = decision;
          const { rule: otherRule, ...otherRest } = again.get(name) ?? assert.fail();
          assert.deepEqual(otherRest, { ...rest, why: otherRest.why });
          assert.equal(otherRule?.id, rule?.id);
        }
      }),
      RUNS,
    );
  });

  it('never widens when a deny is added', () => {
    fc.assert(
      fc.property(randomWorld, randomDenial, randomPeer, (world, added, peer) => {
        const more = { ...world, rules: [...world.rules, added] };
        assertNotWider(decideAll(world, peer), decideAll(more, peer));
      }),
      RUNS,
    );
  });

  it('never widens when a ceiling is added', () => {
    fc.assert(
      fc.property(randomWorld, randomCeiling, randomPeer, (world, added, peer) => {
        assertNotWider(decideAll(world, peer), decideAll({ ...world, ceilings: [...world.ceilings, added] }, peer));
      }),
      RUNS,
    );
  });

  it('never allows more to a peer of whom less is known', () => {
    fc.assert(
      fc.property(randomWorld, randomPeer, (world, peer) => {
        const known = decideAll(world, peer);
        const stripped = decideAll(world, { ...peer, host: null, uid: null });
        for (const [name, decision] of stripped) {
          if (decision.effect === 'allow') assert.equal(known.get(name)?.effect, 'allow', name);
        }
      }),
      RUNS,
    );
  });
});

function shuffle<T>(items: readonly T[], dice: Iterator<number>): T[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice((dice.next().value ?? 0) % rest.length, 1));
}
