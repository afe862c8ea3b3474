import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '../../src/core/decide.ts';
import type { Decision } from '../../src/core/decision.ts';
import type { RealPath } from '../../src/core/path.ts';
import { literalPattern } from '../../src/core/pattern.ts';
import type { Peer } from '../../src/core/peer.ts';
import type { RootFacts } from '../../src/core/place.ts';
import { builtInLayer } from '../../src/policy/built-in.ts';
import { EXPANSIONS, evidenceFrom, layerFrom, peer, rootNamed } from '../support/policy.ts';

const ROOT = 'roots: { a: { path: ~/a } }\n';

function decideA(
  text: string,
  who: Peer = peer('s'),
  change: (root: RootFacts) => RootFacts = (root) => root,
): Decision {
  const evidence = evidenceFrom([layerFrom(text)]);
  const roots = evidence.roots.map((root) => (root.name === 'a' ? change(root) : root));
  const changed = evidenceFrom([layerFrom(text)], { roots });
  return decide(changed, who, rootNamed(changed, 'a'), { carves: false });
}

describe('decide()', () => {
  type Row = [says: string, rules: string, outcome: string, who?: Peer];
  const rows: readonly Row[] = [
    // 1. facts that could not be established
    ['denies a peer of whom the kernel says nothing', 'allow: [a]', 'deny unattested', peer('s', { observed: null })],
    // 2. any matching deny
    ['denies what a rule denies by name', 'allow: [a]}, {id: d, deny: [a]', 'deny explicit d'],
    ['denies what a rule denies by path', 'allow: [a]}, {id: d, deny: [~/a]', 'deny explicit d'],
    ['denies below a denied path', 'allow: [a]}, {id: d, deny: [/home/**]', 'deny explicit d'],
    ['denies by a star for one component', 'allow: [a]}, {id: d, deny: [/home/*/a]', 'deny explicit d'],
    ['does not deny a sibling with the same beginning', 'allow: [a]}, {id: d, deny: [~/a-b]', 'allow rule read-only'],
    ['excepts a place from a deny', 'allow: [a]}, {id: d, deny: [/home/**], except: [~/a]', 'allow rule read-only'],
    [
      'excepts a root by name from a deny',
      'allow: [a]}, {id: d, deny: [/home/**], except: [a]',
      'allow rule read-only',
    ],
    ['lets a deny for another server pass', 'allow: [a]}, {id: d, deny: [a], servers: [t]', 'allow rule read-only'],
    ['denies a peer of whom the deny lacks a fact', 'allow: [a]}, {id: d, deny: [a], hosts: [h]', 'deny explicit d'],
    // 6. any matching allow; the highest access
    ['allows read-only where a rule says nothing', 'allow: [a]', 'allow rule read-only'],
    ['gives the highest access', 'allow: [a]}, {id: w, allow: [a], access: read-write', 'allow rule read-write w'],
    ['does not allow where a fact is missing', 'allow: [a], hosts: [h]', 'deny implicit'],
    ['does not allow another server', 'allow: [a], servers: [t]', 'deny implicit'],
    ['does not allow a nameless peer by name', 'allow: [a], servers: [s]', 'deny implicit', peer(null)],
    ['allows a nameless peer where no server is named', 'allow: [a]', 'allow rule read-only', peer(null)],
    [
      'offers the rest where an ask gives more',
      'allow: [a]}, {id: q, ask: [a], access: read-write',
      'allow rule read-only + read-write',
    ],
    ['does not allow a place it excepts', 'allow: [a], except: [~/a]', 'deny implicit'],
    ['does not allow whole what has an exception inside', 'allow: [a], except: [~/a/secret]', 'deny nested'],
    // 5. and 7. asks
    ['asks where an ask matches', 'ask: [a]', 'ask pending + read-only'],
    ['asks where the ask lacks a fact', 'ask: [a], hosts: [h]', 'ask pending + read-only'],
    ['prefers an allow to an ask', 'ask: [a]}, {id: w, allow: [a]', 'allow rule read-only w'],
    [
      'prefers a mandatory ask to an allow',
      'ask: [a], mandatory: true}, {id: w, allow: [a]',
      'ask pending + read-only',
    ],
    // 8.
    ['denies when no rule matches', 'allow: [b]', 'deny implicit'],
  ];
  for (const [says, rules, outcome, who] of rows) {
    it(says, () => {
      const decision = decideA(`roots: { a: { path: ~/a }, b: { path: ~/b } }\nrules: [{id: r, ${rules}}]`, who);
      assert.equal(short(decision, outcome), outcome, decision.why);
    });
  }

  const shapes: readonly [says: string, text: string, outcome: string][] = [
    // 3. ceilings
    ['denies outside a ceiling', `${ROOT}rules: [{id: r, allow: [a]}]\nceiling: [~/b]`, 'deny ceiling'],
    [
      'allows inside one item of a ceiling',
      `${ROOT}rules: [{id: r, allow: [a]}]\nceiling: [~/b, ~/**]`,
      'allow rule read-only',
    ],
    [
      'caps at the access of the ceiling',
      `${ROOT}rules: [{id: r, allow: [a], access: read-write}]\nceiling: [{path: ~/**, access: read-only}]`,
      'allow rule read-only',
    ],
    // 4. nested
    [
      'withholds a root that holds a denied path',
      `${ROOT}rules: [{id: r, allow: [a]}, {id: d, deny: [~/a/x]}]`,
      'deny nested d',
    ],
    [
      'withholds where a pattern could lie inside',
      `${ROOT}rules: [{id: r, allow: [a]}, {id: d, deny: [/home/*/*/x]}]`,
      'deny nested d',
    ],
    [
      'withholds a root that holds a sensitive one',
      'roots: { a: { path: ~/a }, s: { path: ~/a/s, sensitive: true } }\nrules: [{id: r, allow: [a]}]',
      'deny nested',
    ],
    [
      'asks for a sensitive root that is allowed',
      'roots: { a: { path: ~/a, sensitive: true } }\nrules: [{id: r, allow: [a]}]',
      'ask pending + read-only',
    ],
    // caps
    [
      'caps at the cap of the root',
      'roots: { a: { path: ~/a, access: read-only } }\nrules: [{id: r, allow: [a], access: read-write}]',
      'allow rule read-only',
    ],
    [
      'caps at the cap of a root around it',
      'roots: { a: { path: ~/w/a }, w: { path: ~/w, access: read-only } }\nrules: [{id: r, allow: [a], access: read-write}]',
      'allow rule read-only',
    ],
    [
      'caps at the cap of a root inside it, which nothing else could hold',
      'roots: { a: { path: ~/a }, i: { path: ~/a/i, access: read-only } }\nrules: [{id: r, allow: [a], access: read-write}]',
      'allow rule read-only',
    ],
  ];
  for (const [says, text, outcome] of shapes) {
    it(says, () => {
      const decision = decideA(text);
      assert.equal(short(decision, outcome), outcome, decision.why);
    });
  }

  const allowA = `${ROOT}rules: [{id: r, allow: [a], access: read-write}]`;

  it('carves where something enforces it, for a deny of the same layer', () => {
    const text = 'roots: { a: { path: ~/a, nested: carve } }\nrules: [{id: r, allow: [a]}, {id: d, deny: [~/a/x]}]';
    const evidence = evidenceFrom([layerFrom(text)]);
    const root = rootNamed(evidence, 'a');
    assert.equal(decide(evidence, peer('s'), root, { carves: true }).effect, 'allow');
    const without = decide(evidence, peer('s'), root, { carves: false });
    assert.equal(without.kind, 'nested');
    assert.match(without.why, /user\.yaml:2 says "carve"/);
  });

  it('does not carve where a star could be anywhere, or a secret lies inside as well', () => {
    const rules = (more: string): string => `rules: [{id: r, allow: [a]}, {id: d, deny: [~/a/x]}${more}]`;
    const root = 'roots: { a: { path: ~/a, nested: carve }';
    const rows = [
      `${root} }\n${rules(', {id: e, deny: ["~/a/*/y"]}')}`,
      `${root}, b: { path: ~/a/b, sensitive: true } }\n${rules('')}`,
    ];
    for (const text of rows) {
      const evidence = evidenceFrom([layerFrom(text)]);
      assert.equal(decide(evidence, peer('s'), rootNamed(evidence, 'a'), { carves: true }).kind, 'nested', text);
    }
  });

  it('does not carve for a deny of another layer', () => {
    const system = layerFrom('rules: [{id: d, deny: [~/a/x]}]', 'system');
    const text = 'roots: { a: { path: ~/a, nested: carve } }\nrules: [{id: r, allow: [a]}]';
    const evidence = evidenceFrom([system, layerFrom(text, 'user', [system])]);
    assert.equal(decide(evidence, peer('s'), rootNamed(evidence, 'a'), { carves: true }).kind, 'nested');
  });

  it('lets any layer deny and holds a lower layer inside the ceiling of an upper one', () => {
    const upper = layerFrom('ceiling: [~/b]', 'system');
    const evidence = evidenceFrom([upper, layerFrom(allowA, 'user', [upper])]);
    const decision = decide(evidence, peer('s'), rootNamed(evidence, 'a'), { carves: false });
    assert.equal(decision.kind, 'ceiling');
    assert.match(decision.why, /system\.yaml:2/);
  });

  it('names the deny of the upper layer, then the first id', () => {
    const upper = layerFrom('rules: [{id: z, deny: [~/a]}]', 'system');
    const lower = layerFrom(`${ROOT}rules: [{id: c, deny: [a]}, {id: b, deny: [a]}]`, 'user', [upper]);
    const both = evidenceFrom([upper, lower]);
    assert.equal(decide(both, peer('s'), rootNamed(both, 'a'), { carves: false }).rule?.id, 'z');
    const one = evidenceFrom([lower]);
    assert.equal(decide(one, peer('s'), rootNamed(one, 'a'), { carves: false }).rule?.id, 'b');
  });

  it('carries rule, file, line, layer, facts used and facts missing', () => {
    const { rule, facts, missing } = decideA(
      `${ROOT}rules:\n  - { id: r, allow: [a] }\n  - { id: h, allow: [a], hosts: [h] }`,
    );
    assert.deepEqual(rule, { id: 'r', file: 'user.yaml', line: 4, layer: 'user' });
    assert.deepEqual(facts, ['server=s (claimed)', 'uid=1000']);
    assert.deepEqual(missing, ['host']);
  });

  const at = (path: string) => (root: RootFacts) => ({ ...root, place: { path: path as RealPath, identity: '1:2:3' } });

  it('denies a root whose real place is denied, and one that is denied as it is written', () => {
    const denied = `${ROOT}rules: [{id: r, allow: [a]}, {id: d, deny: [/srv/x]}]`;
    assert.equal(decideA(denied, peer('s'), at('/srv/x/y')).kind, 'explicit');
    const written = `${ROOT}rules: [{id: r, allow: [a]}, {id: d, deny: [~/a]}]`;
    assert.equal(decideA(written, peer('s'), at('/srv/x/y')).kind, 'explicit');
  });

  it('denies the target of a denied link, and does not let an exception follow links', () => {
    const text = `${ROOT}rules: [{id: r, allow: [a]}, {id: d, deny: [~/l], except: [~/l/pub]}]`;
    const resolved = new Map([
      ['/home/ana/l', [literalPattern('/srv/l')]],
      ['/home/ana/l/pub', [literalPattern('/srv/l/private')]],
    ]);
    const judge = (place: string): string => {
      const layer = layerFrom(text);
      const roots = evidenceFrom([layer]).roots.map(at(place));
      const evidence = evidenceFrom([layer], { roots, resolved });
      return decide(evidence, peer('s'), rootNamed(evidence, 'a'), { carves: false }).kind;
    };
    assert.equal(judge('/srv/l/x'), 'explicit');
    assert.equal(judge('/srv/l/pub'), 'rule');
    assert.equal(judge('/srv/l/private'), 'explicit');
  });

  it('judges a ceiling by the real place: a link must not lead out of it', () => {
    const text = `${ROOT}rules: [{id: r, allow: [a]}]\nceiling: [~/**]`;
    assert.equal(decideA(text, peer('s'), at('/etc')).kind, 'ceiling');
  });

  it('denies a root whose link leads to the filesystem, to the home or to what holds it, and not one below', () => {
    const builtIn = builtInLayer({ expansions: EXPANSIONS, own: [] });
    const layer = layerFrom(allowA, 'user', [builtIn]);
    for (const [place, kind] of [
      ['/', 'explicit'],
      ['/home', 'explicit'],
      ['/home/ana', 'explicit'],
      ['/home/ana/x', 'rule'],
      ['/srv', 'rule'],
    ] as const) {
      const roots = evidenceFrom([builtIn, layer]).roots.map(at(place));
      const evidence = evidenceFrom([builtIn, layer], { roots });
      const decision = decide(evidence, peer('s'), rootNamed(evidence, 'a'), { carves: false });
      assert.equal(decision.kind, kind, `${place}: ${decision.why}`);
    }
  });

  it('narrows by a project file and never widens by it', () => {
    const file = { file: '/home/ana/a/.rootsd.yaml', deny: [], ask: false } as const;
    const project = (more: object) => (root: RootFacts) => ({
      ...root,
      project: { state: 'good', ...file, ...more } as const,
    });
    assert.equal(decideA(allowA, peer('s'), project({ access: 'read-only' })).access, 'read-only');
    assert.equal(decideA(allowA, peer('s'), project({ ask: true })).kind, 'pending');
    assert.equal(decideA(`${ROOT}rules: []`, peer('s'), project({ ask: true })).kind, 'implicit');
    const source = { layer: 'project', file: file.file, line: 2, column: 3 } as const;
    const inside = [{ pattern: literalPattern('/home/ana/a/x'), source }];
    assert.equal(decideA(allowA, peer('s'), project({ deny: inside })).kind, 'nested');
    const whole = [{ pattern: literalPattern('/home/ana/a'), source }];
    assert.equal(decideA(allowA, peer('s'), project({ deny: whole })).kind, 'project');
    const broken = (root: RootFacts) => ({ ...root, project: { state: 'broken', file: file.file, why: 'x' } as const });
    assert.equal(decideA(allowA, peer('s'), broken).kind, 'project');
  });
});

/** `effect kind [access] [rule]`, as far as the expectation says it. */
function short({ effect, kind, access, askable, rule }: Decision, expected: string): string {
  const parts: string[] = [effect, kind];
  if (access !== null) parts.push(access);
  if (askable !== null) parts.push('+', askable);
  if (rule !== null && expected.endsWith(` ${rule.id}`)) parts.push(rule.id);
  return parts.join(' ');
}
