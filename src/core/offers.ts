// What a list of places says of one: the daemon and `rootsd run` read what could be given in the same way.

import type { Access } from './access.ts';
import { isCarved, isInside } from './boundary.ts';
import type { RealPath } from './path.ts';

/** As a view has it; `access` is null where a person has refused. */
export interface Offered {
  readonly path: string;
  readonly access: Access | null;
  readonly carved: readonly string[];
}

/** Is this access as much as that? */
export function isEnough(held: Access | null, wanted: Access): boolean {
  return held === 'read-write' || held === wanted;
}

/** The deepest one that lets a place be used so; `refused`: there is none, and a person has refused one; null: neither. */
export function offerFor<T extends Offered>(
  offers: readonly T[],
  place: RealPath,
  wanted: Access,
): T | 'refused' | null {
  const around = offers.filter(({ path, carved }) => isInside(place, path as RealPath) && !isCarved(place, carved));
  const enough = around.filter(({ access }) => isEnough(access, wanted));
  const [deepest] = enough.sort((a, b) => b.path.length - a.path.length);
  if (deepest !== undefined) return deepest;
  return around.some(({ access }) => access === null) ? 'refused' : null;
}
