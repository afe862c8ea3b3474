// The catalogue of servers: what comes with us, and servers.yaml beside the policies of the system and of the user.

import { dirname, join } from 'node:path';
import type { Catalogue } from '../core/catalogue.ts';
import type { Problem } from '../core/errors.ts';
import type { Expansions } from '../core/pattern.ts';
import { hasErrors } from '../policy/problem-order.ts';
import { type CatalogueRead, catalogueError, readCatalogue, readShippedCatalogue } from '../policy/read-catalogue.ts';

export const CATALOGUE_NAME = 'servers.yaml';

/** The catalogue beside a directory of policies. */
export function cataloguePath(policyDirectory: string): string {
  return join(dirname(policyDirectory), CATALOGUE_NAME);
}

export interface CataloguesOptions {
  readonly expansions: Expansions;
  readonly uid: number;
  /** The file that comes with us. */
  readonly shipped: string;
  /** Directories of policies: the files lie beside them. */
  readonly layers: { readonly system: string; readonly user: string };
}

export interface Catalogues {
  /** Without the files that are broken. */
  readonly servers: Catalogue;
  /** Those that are there. */
  readonly files: readonly { readonly path: string; readonly state: 'ok' | 'broken' }[];
  readonly problems: readonly Problem[];
}

/** Reads all of it. What the system says of a server no user says otherwise. */
export async function readCatalogues({ expansions, uid, shipped, layers }: CataloguesOptions): Promise<Catalogues> {
  const trust = { uid, home: expansions.home };
  const places = (['system', 'user'] as const).map((layer) => ({
    path: cataloguePath(layers[layer]),
    trust: { ...trust, layer },
  }));
  const reads = await Promise.all(
    places.map(async (place) => ({ ...place, read: await readCatalogue(place.path, { expansions, ...place }) })),
  );
  return {
    servers: [...reads.flatMap(({ read }) => serversOf(read)), ...readShippedCatalogue(shipped, expansions)],
    files: reads.flatMap(({ path, read }) => (read.state === 'absent' ? [] : [{ path, state: stateOf(read) }])),
    problems: reads.flatMap(({ read }) => (read.state === 'absent' ? [] : read.problems)),
  };
}

/** The servers of all of it. Rejects with a RootsError CATALOGUE_INVALID: wrong is never as if absent. */
export async function readWholeCatalogue(options: CataloguesOptions): Promise<Catalogue> {
  const { servers, files, problems } = await readCatalogues(options);
  const broken = files.find(({ state }) => state === 'broken');
  if (broken === undefined) return servers;
  throw catalogueError(
    broken.path,
    problems.filter(({ file }) => file === broken.path),
  );
}

function serversOf(read: CatalogueRead): Catalogue {
  return read.state === 'good' ? read.servers : [];
}

function stateOf(read: Exclude<CatalogueRead, { state: 'absent' }>): 'ok' | 'broken' {
  return read.state === 'broken' || hasErrors(read.problems) ? 'broken' : 'ok';
}
