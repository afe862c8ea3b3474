import type { PolicyTest } from '../core/policy.ts';
import { compilePath } from './compile-path.ts';
import { compileUser, warnOfNearNames } from './compile-peers.ts';
import { findRoot } from './compile-target.ts';
import type { LayerScope } from './layer-scope.ts';
import { hintFor } from './nearest.ts';
import type { PolicySource } from './policy-source.ts';
import type { RawTest } from './raw-policy.ts';
import { clip } from './source-text.ts';
import { type Pointer, pointerTo } from './yaml-file.ts';

/** The tests of a file, in its order. */
export function compileTests(source: PolicySource, scope: LayerScope): PolicyTest[] {
  return source.itemsOf('tests').map(({ pointer, raw }) => compileTest(source, scope, pointer, raw));
}

function compileTest(source: PolicySource, scope: LayerScope, pointer: Pointer, raw: RawTest): PolicyTest {
  checkNames(source, scope, pointer, raw);
  const options = { expansions: scope.expansions, stars: false };
  const path = raw.path === undefined ? null : compilePath(source, pointerTo(pointer, 'path'), raw.path, options);
  const { user, path: _, ...rest } = raw;
  return {
    ...rest,
    ...(user === undefined ? {} : { user: compileUser(user) }),
    ...(path === null ? {} : { path }),
    source: source.sourceOf(pointer),
  };
}

function checkNames(source: PolicySource, scope: LayerScope, pointer: Pointer, raw: RawTest): void {
  const { server, claims, host, root, rule } = raw;
  const at = (key: string, name: string | undefined) =>
    name === undefined ? [] : [{ name, pointer: pointerTo(pointer, key) }];
  warnOfNearNames(source, scope, 'servers', [...at('server', server), ...at('claims', claims)]);
  warnOfNearNames(source, scope, 'hosts', at('host', host));
  if (root !== undefined) findRoot(source, scope, pointerTo(pointer, 'root'), root);
  if (rule === undefined || scope.isIncomplete || scope.names.rules.has(rule)) return;
  const hint = hintFor(rule, [...scope.names.rules.keys()], 'There is no rule at all');
  source.refuse('POLICY_UNKNOWN_RULE', pointerTo(pointer, 'rule'), { name: clip(rule), hint });
}
