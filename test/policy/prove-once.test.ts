import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LayerInput } from '../../src/policy/compile-layer.ts';
import { proveLayer } from '../../src/policy/prove-layer.ts';
import { proveOnce } from '../../src/policy/prove-once.ts';
import { EXPANSIONS, layerFrom } from '../support/policy.ts';

const UPPER = layerFrom('roots: { a: { path: /a } }', 'system');
const INPUT: LayerInput = {
  layer: 'user',
  files: [{ path: '/p/a.yaml', text: 'version: 1\nrules: [{ id: r, allow: [a] }]\n' }],
  expansions: EXPANSIONS,
  upper: [UPPER],
  listeners: [],
  isIncomplete: false,
};

it('proveOnce() gives what it has where nothing is another, and proves anew where something is', async () => {
  let proofs = 0;
  const prove = proveOnce((input) => {
    proofs += 1;
    return proveLayer(input);
  });
  const first = await prove(INPUT);
  assert.equal(first.policy?.rules.length, 1);
  assert.deepEqual([await prove({ ...INPUT, files: [...INPUT.files] }), proofs], [first, 1]);
  const [file = assert.fail()] = INPUT.files;
  const others: Partial<LayerInput>[] = [
    { files: [{ ...file, text: `${file.text} ` }] },
    { files: [{ ...file, path: '/p/b.yaml' }] },
    { files: [file, { path: '/p/b.yaml', text: 'version: 1\n' }] },
    { upper: [{ ...UPPER }] },
    { upper: [UPPER, layerFrom('', 'system')] },
    { listeners: ['git'] },
    { isIncomplete: true },
  ];
  for (const other of others) {
    await prove(INPUT);
    const before = proofs;
    const input = { ...INPUT, ...other };
    assert.deepEqual([await prove(input), proofs], [proveLayer(input), before + 1], JSON.stringify(other));
  }
});

it('proveOnce() proves again what was wrong', async () => {
  let isWell = false;
  const prove = proveOnce((input) => (isWell ? proveLayer(input) : { policy: null, problems: [], results: [] }));
  assert.equal((await prove(INPUT)).policy, null);
  isWell = true;
  assert.equal((await prove(INPUT)).policy?.rules.length, 1);
});
