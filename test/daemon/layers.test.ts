import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type LayerReading, type LayerSource, Layers } from '../../src/daemon/layers.ts';
import { builtInLayer } from '../../src/policy/built-in.ts';
import { readLayer } from '../../src/policy/read-layer.ts';
import { EXPANSIONS } from '../support/policy.ts';
import { makeTree } from '../support/tree.ts';

it('Layers puts a policy in force before it is written down as the last good one, and a reload ends after', async (t) => {
  const base = makeTree(t, ['file user/a.yaml version: 1\nrules: [{ id: new, deny: [/x] }]']);
  const trust = { uid: process.getuid?.() ?? 0, home: base };
  let written = () => {};
  const source: LayerSource = {
    layer: 'user',
    directory: `${base}/user`,
    read: (upper): Promise<LayerReading> =>
      readLayer({ layer: 'user', directory: `${base}/user`, expansions: EXPANSIONS, trust, upper }),
    restore: async () => ({ state: 'absent' }),
    remember: () => new Promise((resolve) => (written = resolve)),
    forget: async () => {},
  };
  const builtIn = builtInLayer({ expansions: EXPANSIONS, own: [], realHome: EXPANSIONS.home });
  const layers = new Layers(builtIn, [source], () => 0);
  const steps: string[] = [];
  await new Promise<void>((resolve) => {
    const done = () => steps.push('done');
    void layers.reload({ onLayer: resolve }).then(done);
  });
  steps.push(layers.policy.rules.some(({ id }) => id === 'new') ? 'in force' : 'not in force');
  // Whatever is ready to go on has gone on.
  await new Promise((resolve) => setImmediate(resolve));
  steps.push('written');
  written();
  await layers.reload();
  assert.deepEqual(steps, ['in force', 'written', 'done']);
});
