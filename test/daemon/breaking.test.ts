// Breaking a file never widens: whatever is done to the text of a policy file, as long as the layer cannot be read the
// decisions are exactly those of before, and without anything from before there are none.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import fc from 'fast-check';
import { decide } from '../../src/core/decide.ts';
import { decidePath } from '../../src/core/decide-path.ts';
import type { Decision } from '../../src/core/decision.ts';
import { literalPattern } from '../../src/core/pattern.ts';
import type { Policy } from '../../src/core/policy.ts';
import { writtenEvidence } from '../../src/core/run-tests.ts';
import { type LayerSource, Layers } from '../../src/daemon/layers.ts';
import { builtInLayer } from '../../src/policy/built-in.ts';
import { readLayer } from '../../src/policy/read-layer.ts';
import { mutate, mutations, SYSTEM, USER } from '../support/mutated-policy.ts';
import { EXPANSIONS, peer } from '../support/policy.ts';
import { SYSTEM_LAYER } from '../support/serve.ts';
import { makeTree } from '../support/tree.ts';

interface Machine {
  readonly files: Readonly<Record<'system' | 'user', string>>;
  /** The layers, with nothing in force yet. */
  readonly open: () => Layers;
}

function makeMachine(t: Parameters<typeof makeTree>[0]): Machine {
  const base = makeTree(t, [
    'dir system',
    'dir user',
    'file user/other.yaml version: 1\nrules: [{ id: x, deny: [/x] }]',
  ]);
  const uid = process.getuid?.() ?? 0;
  const sourceOf = (layer: 'system' | 'user'): LayerSource => {
    const directory = join(base, layer);
    const trust = { uid, home: base };
    return {
      layer,
      directory,
      read: (upper) => readLayer({ layer, directory, expansions: EXPANSIONS, trust, upper }),
      restore: async () => ({ state: 'absent' }),
      remember: async () => {},
      forget: async () => {},
    };
  };
  const files = { system: join(base, 'system/a.yaml'), user: join(base, 'user/a.yaml') };
  const builtIn = builtInLayer({ expansions: EXPANSIONS, own: [], realHome: EXPANSIONS.home });
  return { files, open: () => new Layers(builtIn, [sourceOf('system'), sourceOf('user')], () => 0) };
}

const PEERS = [peer('s'), peer('s', { fulfils: { server: true } }), peer('t', { host: 'editor' }), peer(null)];
const PATHS = [
  '~/web/a',
  '~/web/keys/public/x',
  '~/web/keys/x',
  '~/docs/private',
  '~/.ssh/id',
  '/srv/shared/x',
  '/srv/y',
];

/** What everybody may do, whatever the layers are made of. */
function decisions(policy: Policy): readonly Decision[] {
  const evidence = writtenEvidence(policy);
  return PEERS.flatMap((one) => [
    ...evidence.roots.map((root) => decide(evidence, one, root, { carves: false })),
    ...PATHS.map((path) => {
      const forms = [literalPattern(path.replace('~', EXPANSIONS.home))];
      return decidePath(evidence, one, forms, { carves: false }).decision;
    }),
  ]);
}

const texts = { system: SYSTEM, user: USER } as const;

it('a layer in force that breaks decides exactly as before, whatever was done to its text', SYSTEM_LAYER, async (t) => {
  const { files, open } = makeMachine(t);
  for (const layer of ['system', 'user'] as const) writeFileSync(files[layer], texts[layer]);
  const layers = open();
  await layers.reload();
  assert.deepEqual([layers.state, layers.problems], ['ok', []]);
  const before = decisions(layers.policy);
  const { generation } = layers;
  assert.equal(before.filter(({ effect }) => effect === 'allow').length > 0, true);
  const outcomes = { broken: 0, good: 0 };

  await fc.assert(
    fc.asyncProperty(fc.constantFrom('system' as const, 'user' as const), mutations, async (layer, all) => {
      writeFileSync(files[layer], all.reduce(mutate, texts[layer]));
      await layers.reload();
      if (layers.state === 'ok') outcomes.good += 1;
      else {
        outcomes.broken += 1;
        assert.equal(layers.state, 'degraded');
        const broken = layers.statuses.find((status) => status.problems.length > 0);
        assert.equal(broken?.condition, 'degraded');
        if (broken.layer === layer)
          assert.deepEqual([decisions(layers.policy), layers.generation], [before, generation]);
      }
      writeFileSync(files[layer], texts[layer]);
      await layers.reload();
      assert.deepEqual([layers.state, layers.generation], ['ok', generation]);
    }),
    { numRuns: 300 },
  );
  assert.ok(outcomes.broken > 100 && outcomes.good > 5, JSON.stringify(outcomes));
});

it('a layer that is broken from the start locks everything down', SYSTEM_LAYER, async (t) => {
  const { files, open } = makeMachine(t);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('system' as const, 'user' as const), mutations, async (layer, all) => {
      for (const one of ['system', 'user'] as const) writeFileSync(files[one], texts[one]);
      writeFileSync(files[layer], all.reduce(mutate, texts[layer]));
      const layers = open();
      await layers.reload();
      fc.pre(layers.state !== 'ok');
      assert.equal(layers.state, 'lockdown');
      assert.deepEqual(
        decisions(layers.policy).filter(({ effect }) => effect !== 'deny'),
        [],
      );
    }),
    { numRuns: 100 },
  );
});
