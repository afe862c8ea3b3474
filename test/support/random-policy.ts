// Random small worlds for property tests: few names and short paths, so that rules meet.
import fc from 'fast-check';
import type { Access } from '../../src/core/access.ts';
import type { Answered, Asked, Consents } from '../../src/core/consent.ts';
import { type Evidence, gatherEvidence } from '../../src/core/evidence.ts';
import type { RealPath } from '../../src/core/path.ts';
import { ANY, componentsOf, type PathPattern } from '../../src/core/pattern.ts';
import type { Peer } from '../../src/core/peer.ts';
import type { RootFacts } from '../../src/core/place.ts';
import { composePolicy, type LayerPolicy, type RootDeclaration } from '../../src/core/policy.ts';
import type { Effect, Layer, Rule, Source, Target } from '../../src/core/rule.ts';

export interface RandomRoot {
  readonly name: string;
  readonly path: string;
  /** Where the path leads, if it is a link; absent: the disk was not asked. */
  readonly real?: string;
  readonly access?: Access;
  readonly sensitive: boolean;
  readonly nested: 'withhold' | 'carve';
}

export interface RandomRule {
  readonly id: string;
  readonly effect: Effect;
  /** Root names, or (deny) absolute paths. */
  readonly items: readonly string[];
  readonly except: readonly string[];
  readonly servers?: readonly string[];
  readonly hosts?: readonly string[];
  readonly users?: readonly number[];
  readonly access: Access;
  readonly mandatory: boolean;
  readonly layer: 'system' | 'user';
}

/** What somebody has answered when asked about a root under a rule. */
export interface RandomAnswer {
  readonly rule: string;
  readonly root: string;
  /** null: no. */
  readonly given: Access | null;
  readonly asked: Access;
}

export interface RandomWorld {
  readonly roots: readonly RandomRoot[];
  readonly rules: readonly RandomRule[];
  /** Each one file's ceiling. */
  readonly ceilings: readonly (readonly { readonly path: string; readonly access?: Access }[])[];
  readonly answers: readonly RandomAnswer[];
}

export interface RandomPeer {
  readonly server: string | null;
  readonly host: string | null;
  /** null: the user is not known. */
  readonly uid: number | null;
}

const ROOT_NAMES = ['r0', 'r1', 'r2', 'r3'];
const access = fc.constantFrom<Access>('read-only', 'read-write');
const component = fc.constantFrom('a', 'b', 'c');
const path = fc.array(component, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
const starPath = fc
  .array(fc.oneof({ weight: 4, arbitrary: component }, fc.constant('*')), { minLength: 1, maxLength: 4 })
  .map((parts) => `/${parts.join('/')}`);
const names = (all: readonly string[]): fc.Arbitrary<string[]> =>
  fc.uniqueArray(fc.constantFrom(...all), { minLength: 1, maxLength: 2 });
const layer = fc.constantFrom<'system' | 'user'>('system', 'user');
const who = {
  users: fc.option(fc.uniqueArray(fc.constantFrom(1000, 1001), { minLength: 1, maxLength: 2 }), {
    nil: undefined,
    freq: 2,
  }),
  layer,
  servers: fc.option(names(['s1', 's2']), { nil: undefined }),
  hosts: fc.option(names(['h1', 'h2']), { nil: undefined, freq: 2 }),
};

const grant = fc.record({
  effect: fc.constantFrom<Effect>('allow', 'allow', 'ask'),
  items: names(ROOT_NAMES),
  except: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.array(starPath, { minLength: 1, maxLength: 1 })),
  access,
  mandatory: fc.boolean(),
  ...who,
});
const denial = fc.record({
  effect: fc.constant<Effect>('deny'),
  items: fc.array(fc.oneof(starPath, fc.constantFrom(...ROOT_NAMES)), { minLength: 1, maxLength: 2 }),
  except: fc.array(path, { maxLength: 1 }),
  access: fc.constant<Access>('read-only'),
  mandatory: fc.constant(false),
  ...who,
});

export const randomDenial: fc.Arbitrary<RandomRule> = denial.map((rule) => withoutUndefined({ ...rule, id: 'new' }));
export const randomCeiling = fc.array(fc.record({ path: starPath, access }, { requiredKeys: ['path'] }), {
  minLength: 1,
  maxLength: 3,
});
export const randomPeer: fc.Arbitrary<RandomPeer> = fc.record({
  server: fc.constantFrom('s1', 's2', 'other', null),
  host: fc.constantFrom('h1', 'h2', null),
  uid: fc.constantFrom(1000, 1001, null),
});
export const randomWorld: fc.Arbitrary<RandomWorld> = fc.record({
  roots: fc.tuple(...ROOT_NAMES.map((name) => randomRoot(name))),
  rules: fc
    .array(fc.oneof({ weight: 3, arbitrary: grant }, { weight: 1, arbitrary: denial }), { maxLength: 7 })
    .map((rules) => rules.map((rule, i) => withoutUndefined({ ...rule, id: `rule-${i}` }))),
  ceilings: fc.array(randomCeiling, { maxLength: 1 }),
  answers: fc.array(
    fc.record({
      rule: fc.nat(6).map((i) => `rule-${i}`),
      root: fc.constantFrom(...ROOT_NAMES),
      given: fc.constantFrom<Access | null>('read-only', 'read-write', null),
      asked: access,
    }),
    { maxLength: 8 },
  ),
});

function randomRoot(name: string): fc.Arbitrary<RandomRoot> {
  const sensitive = fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.constant(true));
  const nested = fc.constantFrom('withhold' as const, 'carve' as const);
  const root = { name: fc.constant(name), path, sensitive, nested, access, real: path };
  return fc.record(root, { requiredKeys: ['name', 'path', 'sensitive', 'nested'] });
}

function withoutUndefined<T extends object>(value: T): RandomRule {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as unknown as RandomRule;
}

/** The world as the decision sees it: two layers, the upper one with the roots, since rules of both name them. */
export function evidenceOf(world: RandomWorld): Evidence {
  const layers = [layerOf(world, 'system'), layerOf(world, 'user')];
  return gatherEvidence(composePolicy(layers), { roots: world.roots.map(factsOf), resolved: new Map() });
}

export function factsOf(root: RandomRoot): RootFacts {
  const declaration = declarationOf(root);
  const place = root.real === undefined ? null : { path: root.real as RealPath, identity: '1:2:3' };
  return { name: root.name, declaration, written: declaration.path, place, available: true, unavailable: '' };
}

/** What people have answered in this world. The first answer counts. */
export function consentsOf({ roots, answers }: RandomWorld): Consents {
  const answerTo = ({ place, rule }: Asked): Answered | null => {
    const named = (name: string) => roots.find((root) => root.name === name)?.real;
    const found = answers.find((answer) => answer.rule === rule.id && named(answer.root) === place.path);
    if (found === undefined) return null;
    const { given, asked } = found;
    return given === null ? { state: 'refused', why: 'no' } : { state: 'granted', access: given, asked, why: 'yes' };
  };
  return { answerTo };
}

export function peerOf({ server, host, uid }: RandomPeer): Peer {
  return { observed: { pid: 1, user: uid === null ? {} : { uid } }, claimed: { server, host }, class: 'claimed' };
}

export function pattern(text: string): PathPattern {
  return { text, components: componentsOf(text).map((part) => (part === '*' ? ANY : part)) };
}

function layerOf(world: RandomWorld, layer: 'system' | 'user'): LayerPolicy {
  const isUpper = layer === 'system';
  return {
    layer,
    files: [],
    roots: isUpper ? world.roots.map(declarationOf) : [],
    servers: [],
    hosts: [],
    rules: world.rules.flatMap((rule, i) => (rule.layer === layer ? [ruleOf(rule, world, i)] : [])),
    // Ceilings of files and layers intersect: which of them one stands in makes no difference.
    ceilings: world.ceilings.flatMap((items, i) =>
      (i % 2 === 0) === isUpper
        ? [{ items: items.map((item) => ({ ...item, pattern: pattern(item.path) })), source: source(layer, i) }]
        : [],
    ),
    sensitive: [],
    neverRoots: [],
    tests: [],
    prompts: [],
  };
}

function declarationOf({ name, path: at, real: _, ...root }: RandomRoot): RootDeclaration {
  const fixed = { having: [], kind: 'directory', symlinks: 'inside' } as const;
  return { name, path: pattern(at), ...fixed, ...root, source: source('system', 0) };
}

function ruleOf({ items, except, users, layer, ...rule }: RandomRule, world: RandomWorld, i: number): Rule {
  const target = (item: string): Target =>
    item.startsWith('/')
      ? { kind: 'path', pattern: pattern(item) }
      : { kind: 'root', root: item, place: pattern(world.roots.find(({ name }) => name === item)?.path ?? '/none') };
  return {
    ...rule,
    ...(users === undefined ? {} : { users: users.map((uid) => ({ kind: 'uid', uid }) as const) }),
    targets: items.map(target),
    except: except.map(target),
    scopes: [],
    approver: 'user',
    source: source(layer, i),
  };
}

function source(layer: Layer, line: number): Source {
  return { layer, file: `${layer}.yaml`, line, column: 1 };
}
