import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gatherEvidence, gatherInSteps } from '../../src/core/evidence.ts';
import type { RealPath } from '../../src/core/path.ts';
import type { RootFacts } from '../../src/core/place.ts';
import { runAtOnce } from '../../src/core/steps.ts';
import {
  buildView,
  changesInSteps,
  EMPTY_VIEW,
  narrowInSteps,
  sameTold,
  sameView,
  type View,
  viewInSteps,
} from '../../src/core/view.ts';
import { evidenceFrom, layerFrom, peer } from '../support/policy.ts';

type Put = Readonly<Record<string, Partial<RootFacts> & { readonly at?: string; readonly identity?: string }>>;

/** The view of server `s`; every root is where it is written unless `put` says otherwise. */
function viewOf(text: string, put: Put = {}): View {
  const layer = layerFrom(text);
  const roots = evidenceFrom([layer]).roots.map((root): RootFacts => {
    const { at, identity = '1:1:1', ...more } = put[root.name] ?? {};
    const path = (at ?? `/home/ana/${root.declaration.path.components.slice(2).join('/')}`) as RealPath;
    return { ...root, place: { path, identity }, ...more };
  });
  return buildView(evidenceFrom([layer], { roots }), peer('s'), { carves: false });
}

const TWO = `
roots: { b: { path: ~/b, title: Bee }, a: { path: ~/a } }
rules: [{ id: all, allow: [a, b] }, { id: w, allow: [a], access: read-write }]`;
const AWAY = { place: null, available: false, unavailable: 'it is not there' };

describe('gatherInSteps() and viewInSteps()', () => {
  it('take a step for each place that is denied, rule that grants, root that is decided about and root that is told', () => {
    const numbers = Array.from({ length: 100 }, (_, i) => i);
    const layer = layerFrom(`
roots: { ${numbers.map((i) => `r${i}: { path: ~/r${i} }`).join(', ')} }
rules:
  - { id: none, deny: [${numbers.map((i) => `~/d${i}`).join(', ')}] }
${numbers.map((i) => `  - { id: g${i}, allow: [r${i}] }`).join('\n')}`);
    const { policy, roots } = evidenceFrom([layer]);
    const there = roots.map((root): RootFacts => {
      const path = `/home/ana/${root.name}` as RealPath;
      return { ...root, place: { path, identity: `1:${root.name}:1` }, available: true };
    });
    const places = { roots: there, resolved: new Map() };
    const stepsOf = (steps: Iterator<void>) => {
      let count = 0;
      while (!steps.next().done) count += 1;
      return count;
    };
    assert.ok(stepsOf(gatherInSteps(policy, places)) >= 200);
    const evidence = gatherEvidence(policy, places);
    assert.equal(buildView(evidence, peer('s'), { carves: false }).told.length, 100);
    assert.ok(stepsOf(viewInSteps(evidence, peer('s'), { carves: false })) >= 200);
  });
});

describe('buildView()', () => {
  it('tells the allowed and available roots in the order of the policy, with title and access', () => {
    const told = viewOf(TWO).told.map(({ root, title, uri, access }) => ({ root, title, uri, access }));
    assert.deepEqual(told, [
      { root: 'b', title: 'Bee', uri: 'file:///home/ana/b', access: 'read-only' },
      { root: 'a', title: 'a', uri: 'file:///home/ana/a', access: 'read-write' },
    ]);
  });

  it('leaves out what is not available and says why', () => {
    const view = viewOf(TWO, { a: AWAY });
    assert.deepEqual(
      view.told.map(({ root }) => root),
      ['b'],
    );
    const entry = view.entries.find(({ root }) => root === 'a');
    assert.equal(entry?.decision.effect, 'allow');
    assert.equal(entry?.available, false);
    assert.equal(entry?.why, 'it is not there');
  });

  it('tells two roots that are the same place once, under the first name, with the higher access', () => {
    const view = viewOf(TWO, { b: { at: '/home/ana/a' } });
    assert.deepEqual(
      view.told.map(({ root, access }) => [root, access]),
      [['b', 'read-write']],
    );
  });

  it('gives a root the access of an allowed root around it', () => {
    const text = `
roots: { outer: { path: ~/w }, inner: { path: ~/w/i } }
rules: [{ id: o, allow: [outer], access: read-write }, { id: i, allow: [inner] }]`;
    assert.deepEqual(
      viewOf(text).told.map(({ access }) => access),
      ['read-write', 'read-write'],
    );
  });

  it('says the decision on every root, told or not', () => {
    const { entries } = viewOf(`
roots: { b: { path: ~/b }, a: { path: ~/a } }
rules: [{ id: all, allow: [a, b] }, { id: d, deny: [b] }]`);
    assert.deepEqual(
      entries.map(({ root, decision }) => [root, decision.kind]),
      [
        ['b', 'explicit'],
        ['a', 'rule'],
      ],
    );
  });
});

describe('sameTold()', () => {
  it('finds no difference between equal lists', () => assert.ok(sameTold(viewOf(TWO), viewOf(TWO))));

  it('finds another directory of the same name different', () => {
    assert.ok(!sameTold(viewOf(TWO), viewOf(TWO, { a: { identity: '1:2:9' } })));
  });

  it('finds another access, title or number of roots different', () => {
    assert.ok(!sameTold(viewOf(TWO), viewOf(TWO.replace('read-write', 'read-only'))));
    assert.ok(!sameTold(viewOf(TWO), viewOf(TWO.replace('Bee', 'Wasp'))));
    assert.ok(!sameTold(viewOf(TWO), viewOf(TWO, { a: AWAY })));
  });
});

describe('sameView()', () => {
  it('sees a reason that changes although the list does not', () => {
    const other = viewOf(TWO.replace('id: all', 'id: other'));
    assert.ok(sameTold(viewOf(TWO), other));
    assert.ok(!sameView(viewOf(TWO), other));
  });
});

describe('changesInSteps()', () => {
  const changes = (before: View, after: View) => runAtOnce(changesInSteps(before, after));

  it('says what came, what went, what changed, by which rule and why', () => {
    const before = viewOf(TWO, { b: AWAY });
    const after = viewOf(TWO.replace(', access: read-write', '').replace('[a], ', '[a] '));
    assert.deepEqual(changes(before, after), [
      { path: '/home/ana/a', root: 'a', from: 'read-write', to: 'read-only', rule: 'all', why: 'rule "all" allows it' },
      { path: '/home/ana/b', root: 'b', from: null, to: 'read-only', rule: 'all', why: 'rule "all" allows it' },
    ]);
    const gone = changes(after, viewOf('roots: { b: { path: ~/b } }\nrules: [{ id: all, allow: [b] }]'));
    assert.deepEqual(
      gone.map(({ root, to, why }) => [root, to, why]),
      [
        ['b', 'read-only', 'rule "all" allows it'],
        ['a', null, 'it is not declared any more'],
      ],
    );
  });
});

describe('narrowInSteps()', () => {
  const narrow = (view: View, limit: View) => runAtOnce(narrowInSteps(view, limit));
  const says = (view: View) => view.told.map(({ root, access }) => `${root} ${access}`);

  it('tells what both tell, with the lower access, whichever is narrowed', () => {
    const read = viewOf(TWO.replace('read-write', 'read-only'));
    assert.deepEqual(says(narrow(viewOf(TWO), read)), ['b read-only', 'a read-only']);
    assert.deepEqual(says(narrow(read, viewOf(TWO))), ['b read-only', 'a read-only']);
  });

  it('adds nothing, and says of what falls away what the other says', () => {
    const denied = viewOf(`${TWO.slice(0, -1)}, { id: no, deny: [~/a/secret] }]`);
    const narrowed = narrow(viewOf(TWO), denied);
    assert.deepEqual(says(narrowed), ['b read-only']);
    const entry = narrowed.entries.find(({ root }) => root === 'a');
    assert.deepEqual([entry?.available, entry?.why], [false, '"~/a/secret", denied by rule "no", lies inside it']);
    assert.deepEqual(says(narrow(denied, viewOf(TWO))), ['b read-only']);
    assert.deepEqual(says(narrow(viewOf(TWO), EMPTY_VIEW)), []);
  });

  it('says of a place that falls away what the other says of the first root that is this place', () => {
    const both = viewOf(TWO, { a: { at: '/home/ana/b' } });
    const entries = both.entries.map((entry) => ({ ...entry, why: `because of ${entry.root}` }));
    const limit = { ...EMPTY_VIEW, entries };
    const whys = narrow(both, limit).entries.map(({ why }) => why);
    assert.deepEqual(whys, ['because of b', 'because of b']);
  });

  it('tells no directory that is another one there', () => {
    const other = { at: '/home/ana/a', identity: 'another' };
    assert.deepEqual(says(narrow(viewOf(TWO), viewOf(TWO, { a: other }))), ['b read-only']);
  });
});

describe('what a view offers', () => {
  const ASKS = `
roots: { a: { path: ~/a }, b: { path: ~/b }, c: { path: ~/c } }
rules: [{ id: q, ask: [a, b], access: read-write }, { id: r, allow: [b] }, { id: n, deny: [c] }]`;
  const offers = ({ offers }: View) => offers.map(({ root, access }) => `${root} ${access}`);

  it('is what a person could give, or more of it than holds, where it is there', () => {
    assert.deepEqual(offers(viewOf(ASKS)), ['a read-write', 'b read-write']);
    assert.deepEqual(offers(viewOf(ASKS, { a: AWAY })), ['b read-write']);
  });

  it('changes the view: who watches hears of it', () => {
    const raised = ASKS.replace('access: read-write', 'access: read-only');
    assert.equal(sameView(viewOf(ASKS), viewOf(ASKS)), true);
    assert.equal(sameView(viewOf(ASKS), viewOf(raised)), false);
    assert.equal(sameView(viewOf(ASKS), viewOf(ASKS, { a: { identity: 'another' } })), false);
  });

  it('is only what both views offer where one limits the other', () => {
    const fewer = ASKS.replace('ask: [a, b]', 'ask: [b]');
    assert.deepEqual(offers(runAtOnce(narrowInSteps(viewOf(ASKS), viewOf(fewer)))), ['b read-write']);
    assert.deepEqual(offers(runAtOnce(narrowInSteps(viewOf(fewer), viewOf(ASKS)))), ['b read-write']);
  });
});
