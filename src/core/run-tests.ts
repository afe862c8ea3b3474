// The `tests:` inside policy files. They never look at the disk: every root is where it is written.

import { decide } from './decide.ts';
import { decidePath } from './decide-path.ts';
import type { Decision } from './decision.ts';
import { type Evidence, gatherEvidence } from './evidence.ts';
import { ANY, covers, type PathPattern } from './pattern.ts';
import { type Peer, userOf } from './peer.ts';
import { parseRootName, type RootFacts } from './place.ts';
import { composePolicy, type LayerPolicy, type Policy, type PolicyTest, type RootDeclaration } from './policy.ts';
import { circumstancesOf } from './standing.ts';

export interface TestResult {
  readonly test: PolicyTest;
  readonly actual: Decision;
  readonly ok: boolean;
  /** `allow read-write by "web-work"`, for people. */
  readonly expectedText: string;
  readonly actualText: string;
}

/** Runs the tests of `layer` under it and the layers above it (upper ones first, `layer` last). */
export function runTests(layers: readonly LayerPolicy[], layer: LayerPolicy): readonly TestResult[] {
  // Without tests nothing is gathered: the layers above may be large.
  if (layer.tests.length === 0) return [];
  const policy = composePolicy(layers);
  const evidence = writtenEvidence(policy);
  return layer.tests.map((test) => runTest(evidence, policy, test));
}

/** The policy as it is written, every root at its written place, as if it were there. */
export function writtenEvidence(policy: Policy): Evidence {
  return gatherEvidence(policy, { roots: policy.roots.map((root) => writtenRoot(root)), resolved: new Map() });
}

/** A declared root, or the member of a pattern root that `member` names, as written. */
export function writtenRoot(declaration: RootDeclaration, member?: string): RootFacts {
  const { name, path } = declaration;
  const written =
    member === undefined ? path : { text: path.text, components: [...path.components.slice(0, -1), member] };
  const full = member === undefined ? name : `${name}/${member}`;
  return { name: full, declaration, written, place: null, available: true, unavailable: '' };
}

function runTest(evidence: Evidence, policy: Policy, test: PolicyTest): TestResult {
  const actual = decideTest(evidence, policy, test);
  const ok =
    actual.effect === test.expect &&
    (test.access === undefined || actual.access === test.access) &&
    (test.rule === undefined || actual.rule?.id === test.rule) &&
    (test.kind === undefined || actual.kind === test.kind);
  const expected = { effect: test.expect, access: test.access, rule: test.rule, kind: test.kind };
  return { test, actual, ok, expectedText: outcome(expected), actualText: outcome(summaryOf(actual)) };
}

function decideTest(evidence: Evidence, policy: Policy, test: PolicyTest): Decision {
  const peer = peerOf(test);
  const circumstances = circumstancesOf(evidence, peer);
  if (test.path !== undefined) {
    const withMembers = { ...evidence, roots: rootsAround(policy, test.path) };
    return decidePath(withMembers, peer, [test.path], circumstances).decision;
  }
  const { name, member } = parseRootName(test.root ?? '');
  const declaration = policy.roots.find((root) => root.name === name);
  if (declaration === undefined) return decidePath(evidence, peer, [], circumstances).decision;
  return decide(evidence, peer, writtenRoot(declaration, member), circumstances);
}

/** Declared roots that contain the path as written; of a pattern root the member that does. */
function rootsAround(policy: Policy, path: PathPattern): RootFacts[] {
  return policy.roots
    .filter((root) => covers(root.path, path))
    .map((root) => {
      const last = root.path.components.at(-1);
      const member = path.components[root.path.components.length - 1];
      return writtenRoot(root, last === ANY && typeof member === 'string' ? member : undefined);
    });
}

/** `server`: fulfils the entry's selectors; `claims`: only says so. */
function peerOf(test: PolicyTest): Peer {
  const user = test.user === undefined ? {} : userOf(test.user);
  return {
    observed: { pid: 0, user },
    claimed: { server: test.server ?? test.claims ?? null, host: test.host ?? null },
    class: 'claimed',
    fulfils: { server: test.server !== undefined, host: true },
  };
}

interface Outcome {
  readonly effect: string;
  readonly access: string | undefined;
  readonly rule: string | undefined;
  readonly kind: string | undefined;
}

function summaryOf({ effect, access, rule, kind }: Decision): Outcome {
  return { effect, access: access ?? undefined, rule: rule?.id, kind };
}

function outcome({ effect, access, rule, kind }: Outcome): string {
  const parts = [effect, access, rule === undefined ? undefined : `by rule "${rule}"`, kind && `(${kind})`];
  return parts.filter((part) => part !== undefined).join(' ');
}
