import { DEFAULT_SCOPES } from '../core/consent.ts';
import { parseMoment } from '../core/ending.ts';
import { covers } from '../core/pattern.ts';
import type { Ceiling, CeilingItem } from '../core/policy.ts';
import type { Effect, Rule, Target } from '../core/rule.ts';
import { compilePath } from './compile-path.ts';
import { compileUser, pointedItems, warnOfNearNames } from './compile-peers.ts';
import { compileTarget } from './compile-target.ts';
import type { LayerScope } from './layer-scope.ts';
import type { PolicySource } from './policy-source.ts';
import type { RawRule } from './raw-policy.ts';
import { type Pointer, pointerTo } from './yaml-file.ts';

/** The rules of a file, in its order. */
export function compileRules(source: PolicySource, scope: LayerScope): Rule[] {
  return source.itemsOf('rules').map(({ pointer, raw }) => compileRule(source, scope, pointer, raw));
}

function compileRule(source: PolicySource, scope: LayerScope, pointer: Pointer, raw: RawRule): Rule {
  const effect = effectOf(raw);
  const targets = compileTargets(source, scope, { list: effect, items: raw[effect], pointer });
  const except = compileTargets(source, scope, { list: 'except', items: raw.except, pointer });
  warnOfNearNames(source, scope, 'servers', pointedItems(pointerTo(pointer, 'servers'), raw.servers));
  warnOfNearNames(source, scope, 'hosts', pointedItems(pointerTo(pointer, 'hosts'), raw.hosts));
  if (raw.scopes !== undefined)
    checkScopes(source, scope, pointedItems(pointerTo(pointer, 'scopes'), raw.scopes), targets);
  return {
    id: raw.id,
    effect,
    targets,
    except,
    ...(raw.servers === undefined ? {} : { servers: raw.servers }),
    ...(raw.hosts === undefined ? {} : { hosts: raw.hosts }),
    ...(raw.users === undefined ? {} : { users: raw.users.map((user) => compileUser(user)) }),
    access: raw.access ?? 'read-only',
    ...compileUntil(source, pointer, raw),
    ...(raw.reason === undefined ? {} : { reason: raw.reason }),
    scopes: effect === 'ask' ? (raw.scopes ?? DEFAULT_SCOPES) : [],
    mandatory: raw.mandatory ?? false,
    approver: raw.approver ?? 'user',
    source: source.sourceOf(pointer),
  };
}

function compileUntil(source: PolicySource, pointer: Pointer, { until }: RawRule): Pick<Rule, 'untilMs'> {
  if (until === undefined) return {};
  const untilMs = parseMoment(until);
  if (untilMs !== null) return { untilMs };
  source.refuse('POLICY_MOMENT', pointerTo(pointer, 'until'), { moment: until });
  return { untilMs: 0 };
}

function effectOf(raw: RawRule): Effect {
  if (raw.deny !== undefined) return 'deny';
  return raw.allow === undefined ? 'ask' : 'allow';
}

function compileTargets(
  source: PolicySource,
  scope: LayerScope,
  { list, items, pointer }: { list: Effect | 'except'; items: readonly string[] | undefined; pointer: Pointer },
): Target[] {
  return pointedItems(pointerTo(pointer, list), items).flatMap(
    ({ name, pointer: at }) => compileTarget(source, scope, { text: name, pointer: at, list }) ?? [],
  );
}

/** On a sensitive root a consent holds for a session at most. */
function checkScopes(
  source: PolicySource,
  scope: LayerScope,
  scopes: readonly { readonly name: string; readonly pointer: Pointer }[],
  targets: readonly Target[],
): void {
  const root = targets.find((target) => target.kind === 'root' && isSensitive(scope, target));
  if (root?.kind !== 'root') return;
  for (const { name, pointer } of scopes) {
    if (name === 'once' || name === 'session') continue;
    source.refuse('POLICY_SENSITIVE_SCOPE', pointer, { scope: name, root: root.root });
  }
}

function isSensitive(scope: LayerScope, target: Target & { readonly kind: 'root' }): boolean {
  if (scope.roots.get(target.root)?.sensitive === true) return true;
  return scope.sensitive.some((place) => covers(place, target.place));
}

/** The ceiling of a file; none where it has none. */
export function compileCeiling(source: PolicySource, scope: LayerScope): Ceiling[] {
  const items = source.itemsOf('ceiling').flatMap(({ pointer, raw }): CeilingItem[] => {
    const [path, at] = typeof raw === 'string' ? [raw, pointer] : [raw.path, pointerTo(pointer, 'path')];
    const pattern = compilePath(source, at, path, { expansions: scope.expansions, stars: true });
    if (pattern === null) return [];
    return [typeof raw === 'string' || raw.access === undefined ? { pattern } : { pattern, access: raw.access }];
  });
  return items.length === 0 ? [] : [{ items, source: source.sourceOf('/ceiling') }];
}
