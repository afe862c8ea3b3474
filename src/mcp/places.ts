// Files and directories that a session may see, and no others. What lies outside is never touched: neither an answer nor
// the time it takes says whether something is there.

import { createBoundary } from '../core/boundary.ts';
import { decidePath } from '../core/decide-path.ts';
import type { EntryKind } from '../core/listing.ts';
import type { RealPath } from '../core/path.ts';
import { componentsOf, literalPattern } from '../core/pattern.ts';
import type { ToldRoot } from '../core/view.ts';
import type { Fetched, FetchedPlace, FetchRequest } from '../disk/fetch-place.ts';
import type { EndpointSession, Sight } from './endpoint-session.ts';

/** The largest file that is sent. */
export const MAX_FILE_BYTES = 1024 * 1024;
/** Entries of a directory that are listed. */
const MAX_ENTRIES = 2_000;

export interface Look {
  readonly want: FetchRequest['want'];
  /** Of the session; all where omitted. */
  readonly roots?: readonly ToldRoot[];
}

/** What lies at a path as a session sees it; null: nothing, or nothing that it may see. */
export async function fetchVisible(
  session: EndpointSession,
  path: string,
  { want, roots = session.sight().view.told }: Look,
): Promise<FetchedPlace | null> {
  if (!isInside(roots, path)) return null;
  const bounds = roots.map(({ path, carved }) => ({ path, carved }));
  const fetched: Fetched = await session.fetch({
    path,
    bounds,
    want,
    maxBytes: MAX_FILE_BYTES,
    maxEntries: MAX_ENTRIES,
  });
  if (!fetched.ok) return null;
  // What was allowed when it was fetched may be denied by now.
  return maySee(session.sight(), path, fetched.path) ? fetched : null;
}

/** Does a path lie in one of the roots as they are told, as far as its text says? `..` says nothing. */
export function isInside(roots: readonly ToldRoot[], path: string): boolean {
  if (!path.startsWith('/') || path.split('/').includes('..')) return false;
  const text = `/${componentsOf(path).join('/')}` as RealPath;
  return createBoundary(roots.map((root) => root.path)).enclosing(text) !== undefined;
}

export function kindOfRoot({ evidence }: Sight, { root }: ToldRoot): EntryKind {
  return evidence.roots.find(({ name }) => name === root)?.declaration.kind ?? 'directory';
}

function maySee(sight: Sight, path: string, real: RealPath): boolean {
  const { evidence, peer, circumstances, view } = sight;
  if (!isInside(view.told, real)) return false;
  const forms = [literalPattern(path), literalPattern(real)];
  return decidePath(evidence, peer, forms, circumstances).decision.effect === 'allow';
}
