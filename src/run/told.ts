import { ACCESS_META } from '../core/access.ts';
import { narrowBoundary } from '../core/boundary.ts';
import { asRealPath, type RealPath, toFileUri } from '../core/path.ts';
import type { BoundaryEntry, ViewMessage, WireOffer, WireRoot } from '../core/protocol.ts';

/** What a session is told and held to: the policy's view, narrowed by the host's roots. */
export interface Told {
  readonly roots: readonly WireRoot[];
  /** Entry for entry beside `roots`. */
  readonly places: readonly BoundaryEntry[];
  /** What a person could give beyond. */
  readonly offers: readonly WireOffer[];
  /** Equal for equal lists of the same directories: a directory replaced by another is a change. */
  readonly key: string;
}

interface Entry extends Omit<BoundaryEntry, 'path'> {
  readonly path: RealPath;
  readonly name: string;
}

/** `limits`: real directories of the host's roots; null: the host does not narrow. */
export function narrowView({ roots, boundary, offers = [] }: ViewMessage, limits: readonly RealPath[] | null): Told {
  const entries = boundary.flatMap((entry, i): Entry[] => {
    const root = roots[i];
    return root === undefined ? [] : [{ ...entry, path: asRealPath(entry.path), name: root.name }];
  });
  const kept = limits === null ? entries : narrowBoundary(entries, limits);
  const told = kept.map(({ name, path, access }) => ({
    uri: toFileUri(path),
    name,
    _meta: { [ACCESS_META]: access },
  }));
  const offered = offers.map((offer) => ({ ...offer, path: asRealPath(offer.path) }));
  return {
    roots: told,
    places: kept.map(({ name, ...place }) => place),
    offers: limits === null ? offered : narrowBoundary(offered, limits),
    key: JSON.stringify(kept),
  };
}
