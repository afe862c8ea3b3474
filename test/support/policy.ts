// Policies from YAML texts, as the reader makes them, without a disk.
import assert from 'node:assert/strict';
import { type Evidence, gatherEvidence } from '../../src/core/evidence.ts';
import type { Expansions } from '../../src/core/pattern.ts';
import type { Peer } from '../../src/core/peer.ts';
import type { Places, RootFacts } from '../../src/core/place.ts';
import { composePolicy, type LayerPolicy } from '../../src/core/policy.ts';
import type { Layer } from '../../src/core/rule.ts';
import { writtenRoot } from '../../src/core/run-tests.ts';
import { compileLayer } from '../../src/policy/compile-layer.ts';

export const EXPANSIONS: Expansions = { home: '/home/ana', user: 'ana', uid: 1000, hostname: 'box' };

/** A layer that says nothing, to be filled in. */
export const EMPTY_LAYER: LayerPolicy = {
  layer: 'user',
  files: [],
  roots: [],
  servers: [],
  hosts: [],
  rules: [],
  ceilings: [],
  sensitive: [],
  neverRoots: [],
  tests: [],
  prompts: [],
};

/** Compiles one layer of one file; fails the test on any error. `version: 1` is added. */
export function layerFrom(text: string, layer: Layer = 'user', upper: readonly LayerPolicy[] = []): LayerPolicy {
  const files = [{ path: `${layer}.yaml`, text: `version: 1\n${text}` }];
  const { policy, problems } = compileLayer({ layer, files, expansions: EXPANSIONS, upper });
  assert.ok(policy, problems.map(({ line, message }) => `${line}: ${message}`).join('\n'));
  return policy;
}

/** Evidence from texts, upper layers first, every root at its written place unless `places` says otherwise. */
export function evidenceFrom(layers: readonly LayerPolicy[], places: Partial<Places> = {}): Evidence {
  const policy = composePolicy(layers);
  const roots = policy.roots.map((root) => writtenRoot(root));
  return gatherEvidence(policy, { roots, resolved: new Map(), ...places });
}

export function peer(server: string | null, more: Partial<Peer> & { readonly host?: string } = {}): Peer {
  const { host = null, ...rest } = more;
  return { observed: { pid: 1, user: { uid: 1000 } }, claimed: { server, host }, class: 'claimed', ...rest };
}

export function rootNamed(evidence: Evidence, name: string): RootFacts {
  const root = evidence.roots.find((one) => one.name === name);
  assert.ok(root, `no root ${name}`);
  return root;
}
