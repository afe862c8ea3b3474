import { ANY, type PathPattern } from '../core/pattern.ts';
import { parseRootName } from '../core/place.ts';
import type { RootDeclaration } from '../core/policy.ts';
import type { Effect, Target } from '../core/rule.ts';
import { compilePath, isPathItem } from './compile-path.ts';
import type { LayerScope } from './layer-scope.ts';
import { hintFor } from './nearest.ts';
import type { PolicySource } from './policy-source.ts';
import { clip } from './source-text.ts';
import type { Pointer } from './yaml-file.ts';

/** An item of `allow`, `ask`, `deny` or `except`; null where it cannot be used, which is reported. */
export function compileTarget(
  source: PolicySource,
  scope: LayerScope,
  item: { readonly text: string; readonly pointer: Pointer; readonly list: Effect | 'except' },
): Target | null {
  const { text, pointer, list } = item;
  if (!isPathItem(text)) return compileRootTarget(source, scope, pointer, text);
  if (list === 'allow' || list === 'ask') {
    source.refuse('POLICY_PATH_GRANTED', pointer, { path: clip(text), effect: list });
    return null;
  }
  const pattern = compilePath(source, pointer, text, { expansions: scope.expansions, stars: true });
  return pattern === null ? null : { kind: 'path', pattern };
}

function compileRootTarget(source: PolicySource, scope: LayerScope, pointer: Pointer, text: string): Target | null {
  const root = findRoot(source, scope, pointer, text);
  if (root === null) return null;
  const { member } = parseRootName(text);
  const target = { kind: 'root', root: root.name } as const;
  return member === undefined
    ? { ...target, place: root.path }
    : { ...target, member, place: placeOfMember(root.path, member) };
}

/** The declared root that `name` or `name/member` means; null where there is none, which is reported. */
export function findRoot(
  source: PolicySource,
  scope: LayerScope,
  pointer: Pointer,
  text: string,
): RootDeclaration | null {
  const { name, hasMember, member } = parseRootName(text);
  const root = scope.roots.get(name);
  if (root === undefined) {
    if (!scope.isIncomplete && !scope.names.roots.has(name)) refuseUnknown(source, scope, pointer, name);
    return null;
  }
  if (hasMember && root.path.components.at(-1) !== ANY) {
    source.refuse('POLICY_NOT_A_PATTERN', pointer, { root: name });
    return null;
  }
  if (member !== undefined && !/^(?!\.\.?$|\*\*$)[^/]+$/.test(member)) {
    source.refuse('POLICY_MEMBER', pointer, { root: name, member: clip(member) });
    return null;
  }
  return root;
}

function refuseUnknown(source: PolicySource, scope: LayerScope, pointer: Pointer, name: string): void {
  const none = 'No root is declared: add it to "roots"';
  source.refuse('POLICY_UNKNOWN_ROOT', pointer, {
    name: clip(name),
    hint: hintFor(name, [...scope.names.roots.keys()], none),
  });
}

function placeOfMember({ text, components }: PathPattern, member: string): PathPattern {
  return { text: text.replace(/\*\/*$/, () => member), components: [...components.slice(0, -1), member] };
}
