// Paths that a session may see and that what is typed could become: the roots, and below a root the entries of the
// directory that is written out.

import { fitsGlob } from '../core/glob.ts';
import type { EntryKind, ListedEntry } from '../core/listing.ts';
import type { TypedPath } from '../core/path-value.ts';
import type { ToldRoot } from '../core/view.ts';
import type { EndpointSession } from './endpoint-session.ts';
import { fetchVisible, isInside, kindOfRoot } from './places.ts';

export interface Wanted {
  readonly what: 'files' | 'directories' | 'any';
  /** Of the names of files. */
  readonly glob?: string;
  /** Nothing outside of this root. */
  readonly within?: ToldRoot;
}

export interface PathCandidate {
  readonly path: string;
  readonly kind: EntryKind;
  /** What is compared with the query. */
  readonly text: string;
}

export interface PathCandidates {
  readonly query: string;
  readonly candidates: Iterable<PathCandidate>;
}

/** The candidates for a path; none where a directory is written out that the session may not see, or that is not there. */
export async function pathCandidates(
  session: EndpointSession,
  typed: TypedPath,
  wanted: Wanted,
): Promise<PathCandidates> {
  const sight = session.sight();
  const roots = wanted.within === undefined ? sight.view.told : [wanted.within];
  const { directory, name } = typed;
  if (!isInside(roots, directory)) {
    const query = `${directory}/${name}`.replace(/^\/+/, '');
    return { query, candidates: roots.flatMap((root) => rootCandidate(root, kindOfRoot(sight, root), wanted)) };
  }
  const place = await fetchVisible(session, directory, { want: 'entries', roots });
  const entries = place?.entries ?? [];
  return { query: name, candidates: entryCandidates(entries, typed, wanted) };
}

function rootCandidate({ path }: ToldRoot, kind: EntryKind, wanted: Wanted): readonly PathCandidate[] {
  return isWanted({ name: path.slice(path.lastIndexOf('/') + 1), kind }, wanted)
    ? [{ path, kind, text: path.slice(1) }]
    : [];
}

/** A name with a dot is hidden until a dot is typed. */
function* entryCandidates(
  entries: readonly ListedEntry[],
  { directory, name: typed }: TypedPath,
  wanted: Wanted,
): Generator<PathCandidate> {
  const base = directory === '/' ? '' : directory;
  const showsHidden = typed.startsWith('.');
  for (const entry of entries) {
    const { name, kind } = entry;
    if ((name.startsWith('.') && !showsHidden) || !isWanted(entry, wanted)) continue;
    yield { path: `${base}/${name}`, kind, text: name };
  }
}

/** Is an entry to be offered? A directory always leads on to what is wanted. */
export function isWanted({ name, kind }: ListedEntry, { what, glob }: Pick<Wanted, 'what' | 'glob'>): boolean {
  if (kind === 'directory') return true;
  return what !== 'directories' && (glob === undefined || fitsGlob(glob, name));
}
