import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isCarved, isInside } from '../../src/core/boundary.ts';
import { decide } from '../../src/core/decide.ts';
import { decidePath } from '../../src/core/decide-path.ts';
import type { Decision } from '../../src/core/decision.ts';
import type { RealPath } from '../../src/core/path.ts';
import { literalPattern } from '../../src/core/pattern.ts';
import { buildView } from '../../src/core/view.ts';
import {
  consentsOf,
  evidenceOf,
  factsOf,
  peerOf,
  type RandomPeer,
  type RandomRule,
  type RandomWorld,
  randomCeiling,
  randomDenial,
  randomPeer,
  randomWorld,
} from '../support/random-policy.ts';
import { referenceDecision } from '../support/reference-decision.ts';

const RUNS = { numRuns: 3000 };

function decideAll(world: RandomWorld, peer: RandomPeer, carves = false): Map<string, Decision> {
  const evidence = evidenceOf(world);
  const circumstances = { carves, consents: consentsOf(world) };
  return new Map(world.roots.map((root) => [root.name, decide(evidence, peerOf(peer), factsOf(root), circumstances)]));
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
      fc.property(randomWorld, randomPeer, fc.boolean(), (world, peer, carves) => {
        for (const [name, { effect, kind, access }] of decideAll(world, peer, carves)) {
          const root = world.roots.find((one) => one.name === name);
          assert.ok(root);
          assert.deepEqual({ effect, kind, access }, referenceDecision(world, peer, root, carves), name);
        }
      }),
      RUNS,
    );
  });

  it('does not depend on the order of rules, roots and ceilings', () => {
    const shuffled = fc.tuple(randomWorld, fc.infiniteStream(fc.nat(1000))).map(([world, dice]) => ({
      world,
      other: {
        ...world,
        roots: shuffle(world.roots, dice),
        rules: shuffle(world.rules, dice),
        ceilings: shuffle(world.ceilings, dice),
      },
    }));
    fc.assert(
      fc.property(shuffled, randomPeer, ({ world, other }, peer) => {
        const again = decideAll(other, peer);
        for (const [name, decision] of decideAll(world, peer)) {
          const { rule, offer, ...rest } = decision;
          const { rule: otherRule, offer: otherOffer, ...otherRest } = again.get(name) ?? assert.fail();
          assert.deepEqual(otherRest, { ...rest, why: otherRest.why });
          assert.equal(otherRule?.id, rule?.id);
          assert.equal(otherOffer?.rule.id, offer?.rule.id);
        }
      }),
      RUNS,
    );
  });

  it('never widens when a deny is added', () => {
    fc.assert(
      fc.property(randomWorld, randomDenial, randomPeer, fc.boolean(), (world, added, peer, carves) => {
        const more = { ...world, rules: [...world.rules, added] };
        assertNotWider(decideAll(world, peer, carves), decideAll(more, peer, carves));
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
      fc.property(randomWorld, randomPeer, (random, peer) => {
        // An answer is bound to what was known of the peer.
        const world = { ...random, answers: [] };
        const known = decideAll(world, peer);
        const stripped = decideAll(world, { ...peer, host: null, uid: null });
        for (const [name, decision] of stripped) {
          if (decision.effect === 'allow') assert.equal(known.get(name)?.effect, 'allow', name);
        }
      }),
      RUNS,
    );
  });

  it('gives by consent only what was allowed or askable without, and asks only for more than there is', () => {
    fc.assert(
      fc.property(randomWorld, randomPeer, fc.boolean(), (world, peer, carves) => {
        const unanswered = decideAll({ ...world, answers: [] }, peer, carves);
        for (const [name, { access, askable, offer, kind }] of decideAll(world, peer, carves)) {
          const before = unanswered.get(name) ?? assert.fail();
          const most = [before.access, before.askable];
          if (access !== null) assert.ok(most.includes('read-write') || most.includes(access), name);
          if (access === 'read-only') assert.notEqual(before.access, 'read-write', name);
          assert.equal(offer?.access ?? null, askable, name);
          if (askable !== null)
            assert.ok(access === null || (access === 'read-only' && askable === 'read-write'), name);
          if (kind === 'consent' || kind === 'refused') assert.notEqual(before.askable, null, name);
        }
      }),
      RUNS,
    );
  });

  it('never widens when what was given is taken back', () => {
    fc.assert(
      fc.property(randomWorld, randomPeer, (world, peer) => {
        const refusals = world.answers.filter(({ given }) => given === null);
        assertNotWider(decideAll(world, peer), decideAll({ ...world, answers: refusals }, peer));
      }),
      RUNS,
    );
  });
});

describe('buildView() on random policies, where the guard holds what is cut out', () => {
  const views = (world: RandomWorld, peer: RandomPeer) => {
    const evidence = evidenceOf(world);
    const [open, carved] = [false, true].map((carves) => buildView(evidence, peerOf(peer), { carves }).told);
    return { evidence, open: open ?? [], carved: carved ?? [] };
  };

  /** Worlds in which much is allowed and something inside is denied. */
  const carvedWorld = fc.tuple(randomWorld, randomDenial).map(([world, denial]): RandomWorld => {
    const allow: RandomRule = {
      id: 'all',
      effect: 'allow',
      items: world.roots.map(({ name }) => name),
      except: [],
      access: 'read-write',
      mandatory: false,
      layer: 'system',
    };
    const deny = { ...denial, items: denial.items.map((item) => item.replaceAll('*', 'a')), layer: 'system' } as const;
    return {
      roots: world.roots.map((root) => ({ real: root.path, ...root, nested: 'carve', sensitive: false })),
      rules: [...world.rules.slice(0, 2), allow, deny],
      ceilings: [],
      answers: [],
    };
  });

  it('lets nothing be reached that a rule denies', () => {
    let cut = 0;
    const property = fc.property(carvedWorld, randomPeer, (world, peer) => {
      const { evidence, carved } = views(world, peer);
      const cuts = carved.flatMap((root) => root.carved);
      cut += cuts.length;
      for (const place of PLACES) {
        const held = carved.some(({ path }) => isInside(place, path)) && !isCarved(place, cuts);
        if (!held) continue;
        const { decision } = decidePath(evidence, peerOf(peer), [literalPattern(place)], { carves: true });
        assert.notEqual(decision.kind, 'explicit', `${place}: ${decision.why}`);
      }
    });
    fc.assert(property, RUNS);
    assert.ok(cut > 50, `only ${cut} places were cut out`);
  });

  it('takes nothing away that was told without it, and cuts nothing out without it', () => {
    fc.assert(
      fc.property(randomWorld, randomPeer, (world, peer) => {
        const { open, carved } = views(world, peer);
        for (const root of open) assert.ok(carved.some(({ path }) => path === root.path));
        for (const root of open) assert.deepEqual(root.carved, []);
      }),
      RUNS,
    );
  });
});

/** All places of a few components. */
const PLACES = ['a', 'b', 'c']
  .flatMap((a) => [
    a,
    ...['a', 'b', 'c'].flatMap((b) => [`${a}/${b}`, ...['a', 'b', 'c'].map((c) => `${a}/${b}/${c}`)]),
  ])
  .flatMap((path) => [`/${path}`, `/${path}/a`, `/${path}/b/c`]) as unknown as readonly RealPath[];

function shuffle<T>(items: readonly T[], dice: Iterator<number>): T[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice((dice.next().value ?? 0) % rest.length, 1));
}
