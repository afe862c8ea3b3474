import type { BigIntStats } from 'node:fs';
import { createBoundary, type Enclosures } from '../core/boundary.ts';
import { parseFileUri, type RealPath } from '../core/path.ts';
import { type Failure, failure } from './failure.ts';
import type { KernelWalk } from './kernel-walk.ts';
import { type Resolved, resolvePath, resolvePlace } from './resolve.ts';

/** `outside`: a well-formed name of something else, existing or not. `invalid`: not a name we accept. */
export type Verdict =
  | { readonly verdict: 'inside'; readonly canonical: RealPath; readonly root: RealPath; readonly why: string }
  | { readonly verdict: 'outside'; readonly canonical: RealPath; readonly why: string }
  | { readonly verdict: 'invalid'; readonly why: string };

export interface JudgeOptions {
  readonly walk?: KernelWalk;
  /** A pipe, socket or device is not a name we accept. */
  readonly refuseSpecial?: boolean;
}

/** Containment only: no policy, no built-in denies; `/` contains everything. Hand on `canonical`, never the request. */
export function judgePath(requestedPath: string, roots: Enclosures, options: JudgeOptions = {}): Verdict {
  const { walk, refuseSpecial = false } = options;
  const resolved = refuseSpecial ? resolvePlain(requestedPath, walk) : resolvePlace(requestedPath, walk);
  if (!resolved.ok) return { verdict: 'invalid', why: `the path ${resolved.why}` };
  const { path: canonical } = resolved;
  const way = canonical === requestedPath ? 'the path' : `the path leads to "${canonical}", which`;
  const root = roots.enclosing(canonical);
  if (root === undefined) return { verdict: 'outside', canonical, why: `${way} lies in none of the roots` };
  return { verdict: 'inside', canonical, root, why: `${way} lies in "${root}"` };
}

/** resolvePath(), but a pipe, socket or device is a failure. */
function resolvePlain(requestedPath: string, walk?: KernelWalk): Resolved | Failure {
  const resolved = resolvePath(requestedPath, walk);
  if (!resolved.ok || resolved.stat === null || !isSpecial(resolved.stat)) return resolved;
  return failure('names neither a directory nor a regular file');
}

/** The roots among the texts (paths or file URIs) that can be used; what cannot be used grants nothing. */
export function resolveRoots(requestedRoots: readonly string[], walk?: KernelWalk): Enclosures {
  const resolved = requestedRoots.map((root) => resolveRoot(root, walk));
  return createBoundary(resolved.flatMap((root) => (root.ok ? [root.path] : [])));
}

/** One root: it must exist, and be a directory or a regular file. */
export function resolveRoot(
  requestedRoot: string,
  walk?: KernelWalk,
): { readonly ok: true; readonly path: RealPath } | Failure {
  const parsed = requestedRoot.startsWith('file:')
    ? parseFileUri(requestedRoot)
    : ({ ok: true, path: requestedRoot } as const);
  if (!parsed.ok) return failure(parsed.why);
  const resolved = resolvePath(parsed.path, walk);
  if (!resolved.ok) return resolved;
  if (resolved.stat === null) return failure('does not exist', 'ENOENT');
  if (isSpecial(resolved.stat)) return failure('is neither a directory nor a regular file');
  return { ok: true, path: resolved.path };
}

/** A pipe, a socket or a device. */
export function isSpecial(stat: Pick<BigIntStats, 'isDirectory' | 'isFile'>): boolean {
  return !stat.isDirectory() && !stat.isFile();
}
