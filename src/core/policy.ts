import type { Access } from './access.ts';
import type { Kind } from './decision.ts';
import type { PathPattern } from './pattern.ts';
import type { PeerClass } from './peer.ts';
import type { Prompt } from './prompt.ts';
import type { Effect, Layer, Rule, Source, UserSelector } from './rule.ts';
import type { ChosenChannel } from './server-traits.ts';

export interface RootDeclaration {
  readonly name: string;
  /** A last component ANY makes it a pattern root: one root for each directory that matches. */
  readonly path: PathPattern;
  readonly title?: string;
  /** A cap: nobody gets more here. undefined = none. */
  readonly access?: Access;
  /** Of a pattern root: file names of which a member must hold one. Empty = any directory. */
  readonly having: readonly string[];
  readonly kind: 'directory' | 'file';
  readonly symlinks: 'inside' | 'none';
  readonly nested: 'withhold' | 'carve';
  readonly sensitive: boolean;
  readonly source: Source;
}

/** What must hold of a peer so that it is who it says; all that are given. */
export interface Selectors {
  readonly command?: readonly string[];
  readonly socket?: string;
  readonly exe?: string;
  readonly sha256?: string;
  readonly require?: PeerClass;
}

export interface HostEntry {
  readonly name: string;
  readonly selectors: Selectors;
  readonly source: Source;
}

export interface ServerEntry extends HostEntry {
  /** false: roots are not announced, `roots/list` gets -32601. */
  readonly roots: boolean;
  readonly hostRoots: 'narrow' | 'ignore';
  readonly guard: 'on' | 'off' | 'strict';
  /** Names of tool arguments that hold paths (for the guard). */
  readonly paths: readonly string[];
  /** How the boundary reaches it, the best first; absent: as the catalogue says. */
  readonly channels?: readonly ChosenChannel[];
  readonly confine: 'none' | 'best-effort' | 'required';
}

export interface CeilingItem {
  readonly pattern: PathPattern;
  readonly access?: Access;
}

/** The `ceiling` of one file: a union. Several intersect. */
export interface Ceiling {
  readonly items: readonly CeilingItem[];
  readonly source: Source;
}

export interface PolicyTest {
  /** A peer that fulfils the entry's selectors. */
  readonly server?: string;
  /** A peer that only says so. */
  readonly claims?: string;
  readonly host?: string;
  readonly user?: UserSelector;
  readonly root?: string;
  readonly path?: PathPattern;
  readonly expect: Effect;
  readonly access?: Access;
  readonly rule?: string;
  readonly kind?: Kind;
  readonly source: Source;
}

export interface PolicyFile {
  readonly path: string;
  readonly sha256: string;
}

/** One layer, read and compiled. Lists are in the order of a view: file name, then position. */
export interface LayerPolicy {
  readonly layer: Layer;
  readonly files: readonly PolicyFile[];
  readonly roots: readonly RootDeclaration[];
  readonly servers: readonly ServerEntry[];
  readonly hosts: readonly HostEntry[];
  readonly rules: readonly Rule[];
  readonly ceilings: readonly Ceiling[];
  /** Places where an allow counts as a mandatory ask: credential stores (built-in layer only). */
  readonly sensitive: readonly PathPattern[];
  /** Places that are never a root themselves, whatever link leads there (built-in layer only). */
  readonly neverRoots: readonly PathPattern[];
  readonly tests: readonly PolicyTest[];
  /** For the endpoint. */
  readonly prompts: readonly Prompt[];
}

/** All layers together, what decisions are made from. */
export interface Policy {
  readonly layers: readonly LayerPolicy[];
  readonly roots: readonly RootDeclaration[];
  readonly servers: ReadonlyMap<string, ServerEntry>;
  readonly hosts: ReadonlyMap<string, HostEntry>;
  readonly rules: readonly Rule[];
  readonly ceilings: readonly Ceiling[];
  readonly sensitive: readonly PathPattern[];
  readonly neverRoots: readonly PathPattern[];
  readonly prompts: ReadonlyMap<string, Prompt>;
}

/**
 * Puts layers together, upper ones first. The reader sees to it that names are unique, but a lower layer whose last good
 * state is kept was read under other upper layers.
 * INVARIANT: a name that an upper layer has taken is the upper layer's alone. What a lower one declared by it is left out,
 * and so is what it granted by it; what it denied stays, for a deny is of a place.
 */
export function composePolicy(layers: readonly LayerPolicy[]): Policy {
  const own = layers.map((layer, i) => withoutTaken(layer, layers.slice(0, i)));
  return {
    layers,
    roots: own.flatMap((layer) => layer.roots),
    servers: new Map(own.flatMap((layer) => layer.servers.map((server) => [server.name, server]))),
    hosts: new Map(own.flatMap((layer) => layer.hosts.map((host) => [host.name, host]))),
    rules: own.flatMap((layer) => layer.rules),
    ceilings: layers.flatMap((layer) => layer.ceilings),
    sensitive: layers.flatMap((layer) => layer.sensitive),
    neverRoots: layers.flatMap((layer) => layer.neverRoots),
    prompts: firstByName(layers.flatMap((layer) => layer.prompts)),
  };
}

function firstByName(prompts: readonly Prompt[]): ReadonlyMap<string, Prompt> {
  const byName = new Map<string, Prompt>();
  for (const prompt of prompts) if (!byName.has(prompt.name)) byName.set(prompt.name, prompt);
  return byName;
}

function withoutTaken(layer: LayerPolicy, upper: readonly LayerPolicy[]): LayerPolicy {
  const taken = (pick: (from: LayerPolicy) => readonly { readonly name: string }[]): ReadonlySet<string> =>
    new Set(upper.flatMap(pick).map(({ name }) => name));
  const roots = taken((from) => from.roots);
  const servers = taken((from) => from.servers);
  const hosts = taken((from) => from.hosts);
  const lost = new Set(layer.roots.map(({ name }) => name).filter((name) => roots.has(name)));
  return {
    ...layer,
    roots: layer.roots.filter(({ name }) => !roots.has(name)),
    servers: layer.servers.filter(({ name }) => !servers.has(name)),
    hosts: layer.hosts.filter(({ name }) => !hosts.has(name)),
    rules: lost.size === 0 ? layer.rules : layer.rules.map((rule) => withoutTargets(rule, lost)),
  };
}

function withoutTargets(rule: Rule, lost: ReadonlySet<string>): Rule {
  if (rule.effect === 'deny') return rule;
  return { ...rule, targets: rule.targets.filter((target) => target.kind === 'path' || !lost.has(target.root)) };
}

/**
 * Every path that denies, exceptions, ceilings, sensitive places and roots name: what has to be resolved on the disk. A
 * grant names roots, not places.
 */
export function pathsOf(policy: Policy): readonly PathPattern[] {
  const targets = policy.rules.flatMap((rule) =>
    rule.effect === 'deny' ? [...rule.targets, ...rule.except] : rule.except,
  );
  return [
    ...targets.map((target) => (target.kind === 'path' ? target.pattern : target.place)),
    ...policy.ceilings.flatMap(({ items }) => items.map(({ pattern }) => pattern)),
    ...policy.sensitive,
    ...policy.roots.map(({ path }) => path),
  ];
}
