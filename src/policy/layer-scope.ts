// What one layer's files can refer to: the names of the layer itself and of all layers above it, never below.

import type { Expansions, PathPattern } from '../core/pattern.ts';
import type { LayerPolicy, RootDeclaration } from '../core/policy.ts';
import type { Source } from '../core/rule.ts';
import type { PolicySource } from './policy-source.ts';
import type { RawMaps } from './raw-policy.ts';
import type { Pointer } from './yaml-file.ts';

export interface LayerScope {
  readonly expansions: Expansions;
  /** Declared roots by name, those that could be compiled. */
  readonly roots: ReadonlyMap<string, RootDeclaration>;
  /** All names, also of entries that are wrong. */
  readonly names: Readonly<Record<NameKind, ReadonlyMap<string, unknown>>>;
  readonly sensitive: readonly PathPattern[];
  /** Listeners of rootsd.yaml. */
  readonly listeners: ReadonlySet<string>;
  /** A file of this layer could not be parsed: what is not declared elsewhere may be declared there. */
  readonly isIncomplete: boolean;
}

export type NameKind = keyof RawMaps | 'rules';

const SINGULAR: Readonly<Record<NameKind, string>> = {
  roots: 'root',
  servers: 'server',
  hosts: 'host',
  prompts: 'prompt',
  rules: 'rule',
};

type Declared = Record<NameKind, Map<string, Source | null>>;

/** Collects the names of all layers. A name that is taken makes the lower, or the later, file wrong. */
export function collectNames(upper: readonly LayerPolicy[], sources: readonly PolicySource[]): LayerScope['names'] {
  const declared = upperNames(upper);
  for (const source of sources) {
    for (const kind of ['roots', 'servers', 'hosts', 'prompts'] as const) {
      for (const { name, pointer } of source.namesOf(kind)) declare(declared, { kind, source, name, pointer });
    }
    for (const rule of source.ruleIds()) declare(declared, { kind: 'rules', source, ...rule });
  }
  return declared;
}

function upperNames(upper: readonly LayerPolicy[]): Declared {
  const bySource = (entries: readonly { readonly name: string; readonly source: Source }[]) =>
    new Map<string, Source | null>(entries.map(({ name, source }) => [name, source]));
  return {
    roots: bySource(upper.flatMap((layer) => layer.roots)),
    servers: bySource(upper.flatMap((layer) => layer.servers)),
    hosts: bySource(upper.flatMap((layer) => layer.hosts)),
    rules: bySource(upper.flatMap((layer) => layer.rules.map(({ id, source }) => ({ name: id, source })))),
    prompts: new Map(upper.flatMap((layer) => layer.prompts.map(({ name }) => name).map((name) => [name, null]))),
  };
}

interface Declaration {
  readonly kind: NameKind;
  readonly source: PolicySource;
  readonly name: string;
  readonly pointer: Pointer;
}

function declare(declared: Declared, { kind, source, name, pointer }: Declaration): void {
  const first = declared[kind].get(name);
  if (first === undefined) {
    declared[kind].set(name, source.sourceOf(pointer));
    return;
  }
  const place = first === null ? 'a layer above' : `${first.file}:${first.line}`;
  const params = { name, what: SINGULAR[kind], place };
  if (kind === 'rules') source.refuse('POLICY_DUPLICATE_NAME', pointer, params);
  else source.refuseKey('POLICY_DUPLICATE_NAME', pointer, params);
}
