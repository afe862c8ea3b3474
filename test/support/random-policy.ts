// Random small worlds for property tests: few names and short paths, so that rules meet.
import fc from 'fast-check';
import type { Access } from '../../src/core/access.ts';
import { type Evidence, gatherEvidence } from '../../src/core/evidence.ts';
import { ANY, componentsOf, type PathPattern } from '../../src/core/pattern.ts';
import type { Peer } from '../../src/core/peer.ts';
import type { RootFacts } from '../../src/core/place.ts';
import { composePolicy, type LayerPolicy, type RootDeclaration } from '../../src/core/policy.ts';
import type { Effect, Layer, Rule, Source, Target } from '../../src/core/rule.ts';

export interface RandomRoot {
  readonly name: string;
  readonly path: string;
  readonly access?: Access;
  readonly sensitive: boolean;
}

export interface RandomRule {
  readonly id: string;
  readonly effect: Effect;
  /** Root names, or (deny) absolute paths. */
  readonly items: readonly string[];
  readonly except: readonly string[];
  readonly servers?: readonly string[];
  readonly hosts?: readonly string[];
  readonly access: Access;
  readonly mandatory: boolean;
}

export interface RandomWorld {
  readonly roots: readonly RandomRoot[];
  readonly rules: readonly RandomRule[];
  /** Each one file's ceiling. */
  readonly ceilings: readonly (readonly { readonly path: string; readonly access?: Access }[])[];
}

export interface RandomPeer {
  readonly server: string | null;
  readonly host: string | null;
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
const who = {
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
});
export const randomWorld: fc.Arbitrary<RandomWorld> = fc.record({
  roots: fc.tuple(...ROOT_NAMES.map((name) => randomRoot(name))),
  rules: fc
    .array(fc.oneof({ weight: 3, arbitrary: grant }, { weight: 1, arbitrary: denial }), { maxLength: 7 })
    .map((rules) => rules.map((rule, i) => withoutUndefined({ ...rule, id: `rule-${i}` }))),
  ceilings: fc.array(randomCeiling, { maxLength: 1 }),
});

function randomRoot(name: string): fc.Arbitrary<RandomRoot> {
  const sensitive = fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.constant(true));
  return fc.record(
    { name: fc.constant(name), path, sensitive, access },
    { requiredKeys: ['name', 'path', 'sensitive'] },
  );
}

function withoutUndefined<T extends object>(value: T): RandomRule {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as unknown as RandomRule;
}

/** The world as the decision sees it; `order` permutes rules and roots, as other file names would. */
export function evidenceOf(world: RandomWorld): Evidence {
  return gatherEvidence(composePolicy([layerOf(world)]), { roots: world.roots.map(factsOf), resolved: new Map() });
}

export function factsOf(root: RandomRoot): RootFacts {
  const declaration = declarationOf(root);
  return { name: root.name, declaration, written: declaration.path, place: null, available: true, unavailable: '' };
}

export function peerOf({ server, host }: RandomPeer): Peer {
  return { observed: { pid: 1, user: { uid: 1000 } }, claimed: { server, host }, class: 'claimed' };
}

export function pattern(text: string): PathPattern {
  return { text, components: componentsOf(text).map((part) => (part === '*' ? ANY : part)) };
}

function layerOf(world: RandomWorld): LayerPolicy {
  const layer: Layer = 'user';
  return {
    layer,
    files: [],
    roots: world.roots.map(declarationOf),
    servers: [],
    hosts: [],
    rules: world.rules.map((rule, i) => ruleOf(rule, world, i)),
    ceilings: world.ceilings.map((items, i) => ({
      items: items.map((item) => ({ ...item, pattern: pattern(item.path) })),
      source: source(i),
    })),
    sensitive: [],
    neverRoots: [],
    tests: [],
    prompts: {},
  };
}

function declarationOf({ name, path: at, ...root }: RandomRoot): RootDeclaration {
  const fixed = { having: [], kind: 'directory', symlinks: 'inside', nested: 'withhold' } as const;
  return { name, path: pattern(at), ...fixed, ...root, source: source(0) };
}

function ruleOf({ items, except, ...rule }: RandomRule, world: RandomWorld, i: number): Rule {
  const target = (item: string): Target =>
    item.startsWith('/')
      ? { kind: 'path', pattern: pattern(item) }
      : { kind: 'root', root: item, place: pattern(world.roots.find(({ name }) => name === item)?.path ?? '/none') };
  return {
    ...rule,
    targets: items.map(target),
    except: except.map(target),
    scopes: [],
    approver: 'user',
    source: source(i),
  };
}

function source(line: number): Source {
  return { layer: 'user', file: 'random.yaml', line, column: 1 };
}
