// The files of one layer -> one LayerPolicy, or all that is wrong with them. Pure: it works on texts alone, so a kept
// last good state comes to life the same way as files that were just read.

import { createHash } from 'node:crypto';
import type { Problem } from '../core/errors.ts';
import type { Expansions } from '../core/pattern.ts';
import type { LayerPolicy, RootDeclaration } from '../core/policy.ts';
import type { Layer } from '../core/rule.ts';
import { compileHosts, compileServers } from './compile-peers.ts';
import { compilePrompts } from './compile-prompts.ts';
import { compileRoots } from './compile-roots.ts';
import { compileCeiling, compileRules } from './compile-rules.ts';
import { compileTests } from './compile-tests.ts';
import { collectNames, type LayerScope } from './layer-scope.ts';
import { type PolicySource, readSource } from './policy-source.ts';
import { hasErrors, inFileOrder } from './problem-order.ts';

export interface LayerFile {
  readonly path: string;
  /** As it is on the disk, a byte-order mark included. */
  readonly text: string;
}

export interface LayerInput {
  readonly layer: Layer;
  /** In the byte order of their names. */
  readonly files: readonly LayerFile[];
  readonly expansions: Expansions;
  /** The layers above, upper ones first, the built-in one included. */
  readonly upper: readonly LayerPolicy[];
  /** Names of the listeners of rootsd.yaml; a server whose socket is none of them never matches. */
  readonly listeners?: readonly string[];
  /** Another file of the layer could not be read: names that are not declared may be declared there. */
  readonly isIncomplete?: boolean;
}

export interface CompiledLayer {
  /** null where there is an error among the problems. */
  readonly policy: LayerPolicy | null;
  /** Errors and warnings of all files, in the order of files and lines. */
  readonly problems: readonly Problem[];
}

/** Compiles a layer as a whole. */
export function compileLayer(input: LayerInput): CompiledLayer {
  const read = input.files.map(({ path, text }) => readSource('policy', input.layer, path, text));
  const sources = read.flatMap(({ source }) => source ?? []);
  const isIncomplete = input.isIncomplete === true || sources.length < read.length;
  const policy = compileSources(input, sources, isIncomplete);
  const problems = inFileOrder([
    ...read.flatMap(({ problems }) => problems),
    ...sources.flatMap(({ problems }) => problems),
  ]);
  return { policy: hasErrors(problems) ? null : policy, problems };
}

function compileSources(input: LayerInput, sources: readonly PolicySource[], isIncomplete: boolean): LayerPolicy {
  const names = collectNames(input.upper, sources);
  const roots = sources.flatMap((source) => compileRoots(source, input.expansions));
  const scope: LayerScope = {
    expansions: input.expansions,
    roots: rootsByName([...input.upper.flatMap((layer) => layer.roots), ...roots]),
    names,
    sensitive: input.upper.flatMap((layer) => layer.sensitive),
    listeners: new Set(input.listeners),
    isIncomplete,
  };
  return {
    layer: input.layer,
    files: input.files.map(({ path, text }) => ({ path, sha256: createHash('sha256').update(text).digest('hex') })),
    roots,
    servers: sources.flatMap((source) => compileServers(source, scope)),
    hosts: sources.flatMap((source) => compileHosts(source, scope)),
    rules: sources.flatMap((source) => compileRules(source, scope)),
    ceilings: sources.flatMap((source) => compileCeiling(source, scope)),
    sensitive: [],
    neverRoots: [],
    tests: sources.flatMap((source) => compileTests(source, scope)),
    prompts: sources.flatMap((source) => compilePrompts(source, scope)),
  };
}

/** The first declaration of a name counts; a second one has been reported. */
function rootsByName(roots: readonly RootDeclaration[]): ReadonlyMap<string, RootDeclaration> {
  return new Map(roots.toReversed().map((root) => [root.name, root]));
}
