// Two spellings of one directory get one answer: through links, with doubled slashes, `.` and a slash at the end; where a
// root is declared, where a place is denied, capped or held by a ceiling, and where it is asked about.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { lookAtPlaces } from '../../src/commands/evaluate-files.ts';
import type { Decision } from '../../src/core/decision.ts';
import { composePolicy } from '../../src/core/policy.ts';
import { explainTarget } from '../../src/daemon/explain.ts';
import { layerFrom } from '../support/policy.ts';
import { makeTree } from '../support/tree.ts';

const TREE = [
  'dir real/a/sub',
  'dir real/b',
  'link link -> real',
  'link chain -> ./link',
  'link to-a -> chain/a',
  'link real/b/up -> ..',
  'link deep -> real/b/up/a/sub',
];

/** Every place with spellings of it; the first is canonical. */
const PLACES: readonly (readonly string[])[] = [
  ['real', 'link', 'chain', 'real/', './real', 'real/b/up', '/real//.//'],
  ['real/a', 'link/a', 'chain/a/', 'to-a', 'real//a', 'real/./a', 'real/b/up/a', 'link/b/up/./a'],
  ['real/a/sub', 'deep', 'to-a/sub', 'chain/a//sub/', 'real/b/up/b/up/a/sub'],
  ['real/b', 'link/b', 'chain/./b', 'real/b/up/b'],
];

interface Spelled {
  readonly place: number;
  readonly spelling: number;
}

interface World {
  readonly root: Spelled;
  readonly access: string;
  readonly deny: Spelled | null;
  readonly cap: Spelled | null;
  readonly ceiling: Spelled | null;
  readonly sensitive: Spelled | null;
  readonly target: Spelled | null;
}

const spelled: fc.Arbitrary<Spelled> = fc.record({ place: fc.nat(PLACES.length - 1), spelling: fc.nat(20) });
const perhaps = fc.option(spelled, { nil: null, freq: 2 });
const worlds: fc.Arbitrary<World> = fc.record({
  root: spelled,
  access: fc.constantFrom('read-only', 'read-write'),
  deny: perhaps,
  cap: perhaps,
  ceiling: perhaps,
  sensitive: fc.option(spelled, { nil: null, freq: 1 }),
  target: fc.option(spelled, { nil: null, freq: 4 }),
});

function canonical(at: Spelled | null): Spelled | null {
  return at === null ? null : { ...at, spelling: 0 };
}

function canonicalWorld(world: World): World {
  const { root, deny, cap, ceiling, sensitive, target } = world;
  const [denied, capped, held, secret, asked] = [deny, cap, ceiling, sensitive, target].map(canonical);
  const names = { deny: denied ?? null, cap: capped ?? null, ceiling: held ?? null, sensitive: secret ?? null };
  return { ...world, root: { ...root, spelling: 0 }, ...names, target: asked ?? null };
}

function pathOf(base: string, { place, spelling }: Spelled): string {
  const spellings = PLACES[place] ?? [];
  return `${base}/${spellings[spelling % spellings.length]}`;
}

type Answer = Pick<Decision, 'effect' | 'kind' | 'access' | 'askable'>;

function decideIn(base: string, world: World): Answer {
  const quoted = (at: Spelled): string => JSON.stringify(pathOf(base, at));
  const { root, access, deny, cap, ceiling, sensitive, target } = world;
  const lines = [
    'roots:',
    `  r: { path: ${quoted(root)} }`,
    cap === null ? '' : `  capped: { path: ${quoted(cap)}, access: read-only }`,
    sensitive === null ? '' : `  secret: { path: ${quoted(sensitive)}, sensitive: true }`,
    'rules:',
    `  - { id: grant, allow: [r], access: ${access} }`,
    deny === null ? '' : `  - { id: no, deny: [${quoted(deny)}] }`,
    ceiling === null ? '' : `ceiling: [${quoted(ceiling)}]`,
  ];
  const evidence = lookAtPlaces(composePolicy([layerFrom(lines.filter((line) => line !== '').join('\n'))]));
  const question = { server: 's', target: target === null ? 'r' : pathOf(base, target) };
  const { effect, kind, access: given, askable } = explainTarget(evidence, question, { source: 'files', own: {} });
  return { effect, kind, access: given, askable };
}

/**
 * A spelling that goes through a place which the policy names is denied, capped or asked for with that place as well: it
 * may get less, never more.
 */
function goesThrough(base: string, world: World): boolean {
  const { root, deny, cap, ceiling, sensitive, target } = world;
  return [root, deny, cap, ceiling, sensitive, target].some((at) => at !== null && pathOf(base, at).includes('/b/up'));
}

function rank({ effect, access }: Answer): number {
  return ['deny null', 'ask null', 'allow read-only', 'allow read-write'].indexOf(`${effect} ${access}`);
}

it('two spellings of one directory get one answer', (t) => {
  const base = makeTree(t, TREE);
  const seen = new Set<string>();
  fc.assert(
    fc.property(worlds, (world) => {
      const answer = decideIn(base, canonicalWorld(world));
      seen.add(`${answer.effect} ${answer.kind} ${answer.access}`);
      const spelledAnswer = decideIn(base, world);
      if (goesThrough(base, world)) assert.ok(rank(spelledAnswer) <= rank(answer));
      else assert.deepEqual(spelledAnswer, answer);
    }),
    { numRuns: 400 },
  );
  // The worlds are worth something: they give all kinds of answers.
  assert.ok(seen.size >= 6, [...seen].join(', '));
});
