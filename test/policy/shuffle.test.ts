import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { decide } from '../../src/core/decide.ts';
import { composePolicy } from '../../src/core/policy.ts';
import { writtenEvidence } from '../../src/core/run-tests.ts';
import { compileLayer, type LayerFile } from '../../src/policy/compile-layer.ts';
import { EXPANSIONS, peer } from '../support/policy.ts';

/** One policy in parts that may stand in any file. Its two ceilings must stand apart: those of two files intersect. */
const PARTS = {
  roots: ['a: { path: ~/a }', 'b: { path: ~/b, access: read-only }', 'p: { path: ~/src/* }', 'w: { path: ~/w }'],
  servers: ['s: { command: [npx] }'],
  rules: [
    '{ id: r1, allow: [a, b], servers: [s], access: read-write }',
    '{ id: r2, allow: [b, w] }',
    '{ id: r3, ask: [p], hosts: [h] }',
    '{ id: r4, deny: [~/w/x], users: [bob] }',
    '{ id: r5, deny: [b], servers: [t], except: [~/b/c] }',
    '{ id: r6, allow: [p/one], servers: [s, t] }',
  ],
} as const;
const CEILINGS = ['ceiling: [~/**]', 'ceiling: [~/a, ~/b, ~/src/**, { path: ~/w, access: read-only }]'];
const PEERS = [peer('s'), peer('s', { fulfils: { server: true } }), peer('t'), peer('t', { host: 'h' }), peer(null)];

type Place = readonly [file: number, order: number];

/** The parts, spread over files as `places` say. */
function filesOf(places: readonly Place[]): LayerFile[] {
  const texts = new Map<number, { section: string; part: string; order: number }[]>();
  const all = Object.entries(PARTS).flatMap(([section, parts]) => parts.map((part) => ({ section, part })));
  all.forEach((one, i) => {
    const [file, order] = places[i] ?? [0, 0];
    texts.set(file, [...(texts.get(file) ?? []), { ...one, order }]);
  });
  const files = [...texts].map(([file, parts]) => ({ path: `f${file}.yaml`, text: textOf(parts) }));
  const ceilings = CEILINGS.map((text, i) => ({ path: `c${i}.yaml`, text: `version: 1\n${text}\n` }));
  return [...files, ...ceilings].sort((x, y) => (x.path < y.path ? -1 : 1));
}

function textOf(parts: readonly { section: string; part: string; order: number }[]): string {
  const sorted = [...parts].sort((x, y) => x.order - y.order);
  const sections = [...new Set(sorted.map(({ section }) => section))].map((section) => {
    const mark = section === 'rules' ? '  - ' : '  ';
    return `${section}:\n${sorted
      .filter((one) => one.section === section)
      .map(({ part }) => `${mark}${part}\n`)
      .join('')}`;
  });
  return `version: 1\n${sections.join('')}`;
}

/** Every decision, by peer and root. */
function decisionsOf(files: readonly LayerFile[]): Record<string, unknown> {
  const { policy, problems } = compileLayer({ layer: 'user', files, expansions: EXPANSIONS, upper: [] });
  assert.ok(policy, problems.map(({ file, message }) => `${file}: ${message}`).join('\n'));
  const evidence = writtenEvidence(composePolicy([policy]));
  const rows = PEERS.flatMap((one, i) =>
    evidence.roots.map((root) => {
      const { effect, kind, access, askable, rule, missing } = decide(evidence, one, root, { carves: false });
      return [`${i} ${root.name}`, { effect, kind, access, askable, rule: rule?.id, missing }] as const;
    }),
  );
  return Object.fromEntries(rows);
}

it('compileLayer() and decide() give the same answers however a policy is spread over files', () => {
  const count = Object.values(PARTS).flat().length;
  const places = fc.array(fc.tuple(fc.nat(4), fc.nat(100)), { minLength: count, maxLength: count });
  const expected = decisionsOf(filesOf(Array.from({ length: count }, (_, i) => [0, i])));
  fc.assert(
    fc.property(places, (spread) => assert.deepEqual(decisionsOf(filesOf(spread)), expected)),
    { numRuns: 150 },
  );
});
