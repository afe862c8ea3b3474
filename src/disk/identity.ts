import type { BigIntStats } from 'node:fs';
import type { RealPath } from '../core/path.ts';
import type { Place } from '../core/place.ts';

/**
 * `device:inode:birth` (birth in ns): what tells a directory from a later one of the same name. The birth is needed:
 * file systems give the inode number of what was deleted to what is made next.
 */
export function identityOf({ dev, ino, birthtimeNs }: Pick<BigIntStats, 'dev' | 'ino' | 'birthtimeNs'>): string {
  // Not a template: V8 keeps that in pieces, five for each of ten thousand roots.
  return [dev, ino, birthtimeNs].join(':');
}

/** A real path pinned to what lies there now. */
export function placeOf(path: RealPath, stat: BigIntStats): Place {
  return { path, identity: identityOf(stat) };
}
