// Files and directories that a session may see, and no others. What lies outside is never touched: neither an answer nor
// the time it takes says whether something is there.

import { createBoundary } from '../core/boundary.ts';
import { decidePath } from '../core/decide-path.ts';
import type { RealPath } from '../core/path.ts';
import { componentsOf, literalPattern } from '../core/pattern.ts';
import type { Fetched, FetchedPlace, FetchRequest } from '../disk/fetch-place.ts';
import type { EndpointSession, Sight } from './endpoint-session.ts';

/** The largest file that is sent. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** What lies at a path as a session sees it; null: nothing, or nothing that it may see. */
export async function fetchVisible(
  session: EndpointSession,
  path: string,
  want: FetchRequest['want'],
): Promise<FetchedPlace | null> {
  const before = session.sight();
  if (!isInsideRoots(before, path)) return null;
  const bounds = before.view.told.map(({ path, carved }) => ({ path, carved }));
  const fetched: Fetched = await session.fetch({ path, bounds, want, maxBytes: MAX_FILE_BYTES });
  if (!fetched.ok) return null;
  // What was allowed when it was fetched may be denied by now.
  return maySee(session.sight(), path, fetched.path) ? fetched : null;
}

/** Does a path lie in one of the roots as they are told, as far as its text says? `..` says nothing. */
export function isInsideRoots({ view }: Sight, path: string): boolean {
  if (!path.startsWith('/') || path.split('/').includes('..')) return false;
  const text = `/${componentsOf(path).join('/')}` as RealPath;
  return createBoundary(view.told.map((root) => root.path)).enclosing(text) !== undefined;
}

function maySee(sight: Sight, path: string, real: RealPath): boolean {
  const { evidence, peer, circumstances } = sight;
  if (!isInsideRoots(sight, real)) return false;
  const forms = [literalPattern(path), literalPattern(real)];
  return decidePath(evidence, peer, forms, circumstances).decision.effect === 'allow';
}
