// What one layer's files can refer to: the names of the layer itself and of all layers above it, never below.

import type { Expansions, PathPattern } from '../core/pattern.ts';
import type { LayerPolicy, RootDeclaration } from '../core/policy.ts';
import type { Source } from '../core/rule.ts';
import type { PolicySource } from './policy-source.ts';
import type { RawMaps } from './raw-policy.ts';
import { clip } from './source-text.ts';
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

interface First {
  /** null: somewhere above. */
  readonly source: Source | null;
  /** Of a root, as it is written. */
  readonly path: string | undefined;
}

type Declared = Record<NameKind, Map<string, First>>;

/** Collects the names of all layers. A name that is taken makes the lower, or the later, file wrong. */
export function collectNames(upper: readonly LayerPolicy[], sources: readonly PolicySource[]): LayerScope['names'] {
  const declared = upperNames(upper);
  for (const source of sources) {
    for (const kind of ['roots', 'servers', 'hosts', 'prompts'] as const) {
      for (const { raw, ...named } of source.namesOf(kind)) {
        declare(declared, { kind, source, ...named, path: kind === 'roots' ? writtenPath(raw) : undefined });
      }
    }
    for (const rule of source.ruleIds()) declare(declared, { kind: 'rules', source, ...rule, path: undefined });
  }
  return declared;
}

function upperNames(upper: readonly LayerPolicy[]): Declared {
  const firstOf = (
    entries: readonly { readonly name: string; readonly source?: Source; readonly path?: PathPattern }[],
  ): Map<string, First> =>
    new Map(entries.map(({ name, source = null, path }) => [name, { source, path: path?.text }]));
  return {
    roots: firstOf(upper.flatMap((layer) => layer.roots)),
    servers: firstOf(upper.flatMap((layer) => layer.servers)),
    hosts: firstOf(upper.flatMap((layer) => layer.hosts)),
    rules: firstOf(upper.flatMap((layer) => layer.rules.map(({ id, source }) => ({ name: id, source })))),
    prompts: firstOf(upper.flatMap((layer) => layer.prompts.map(({ name }) => ({ name })))),
  };
}

function writtenPath(raw: unknown): string | undefined {
  const path = typeof raw === 'object' && raw !== null && 'path' in raw ? raw.path : undefined;
  return typeof path === 'string' ? path : undefined;
}

interface Declaration {
  readonly kind: NameKind;
  readonly source: PolicySource;
  readonly name: string;
  readonly pointer: Pointer;
  readonly path: string | undefined;
}

function declare(declared: Declared, { kind, source, name, pointer, path }: Declaration): void {
  const first = declared[kind].get(name);
  if (first === undefined) {
    declared[kind].set(name, { source: source.sourceOf(pointer), path });
    return;
  }
  const place = first.source === null ? 'a layer above' : `${first.source.file}:${first.source.line}`;
  const params = { name, what: SINGULAR[kind], place, hint: hintFor(first.path, path) };
  if (kind === 'rules') source.refuse('POLICY_DUPLICATE_NAME', pointer, params);
  else source.refuseKey('POLICY_DUPLICATE_NAME', pointer, params);
}

const TAKE_OUT = 'take one out: rules may use the names of any file of their layer';

function hintFor(first: string | undefined, second: string | undefined): string {
  if (first === undefined || second === undefined) return `Rename one of them; if both mean the same, ${TAKE_OUT}`;
  if (first === second) return `Both are "${clip(first)}": ${TAKE_OUT}`;
  return `One is "${clip(first)}", the other "${clip(second)}": rename one of them; if both lead to one place, ${TAKE_OUT}`;
}
