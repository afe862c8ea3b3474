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

/** Where the catalogue of each layer lies, and by whom it is trusted. What the system says of a server no user says otherwise. */
export function cataloguePlaces({ expansions, uid, layers }: Omit<CataloguesOptions, 'shipped'>) {
  return (['system', 'user'] as const).map((layer) => ({
    path: cataloguePath(layers[layer]),
    trust: { uid, home: expansions.home, layer },
  }));
}

/** Reads those files, and nothing of what comes with us. */
export function readCatalogueFiles(options: CataloguesOptions): Promise<readonly FileRead[]> {
  const { expansions } = options;
  return Promise.all(
    cataloguePlaces(options).map(async ({ path, trust }) => ({
      path,
      read: await readCatalogue(path, { expansions, trust }),
    })),
  );
}

interface FileRead {
  readonly path: string;
  readonly read: CatalogueRead;
}

/** Reads all of it. */
export async function readCatalogues(options: CataloguesOptions): Promise<Catalogues> {
  const reads = await readCatalogueFiles(options);
  return {
    servers: [...reads.flatMap(({ read }) => serversOf(read)), ...shippedOf(options)],
    files: reads.flatMap(({ path, read }) => (read.state === 'absent' ? [] : [{ path, state: stateOf(read) }])),
    problems: reads.flatMap(({ read }) => (read.state === 'absent' ? [] : read.problems)),
  };
}

/** What is known of servers, and from where. */
export interface WholeCatalogue {
  readonly servers: Catalogue;
  readonly files: readonly { readonly path: string; readonly servers: Catalogue }[];
  readonly shipped: Catalogue;
}

/** Reads all of it, where all of it is good. Rejects with a RootsError CATALOGUE_INVALID: wrong is never as if absent. */
export async function readWholeCatalogue(options: CataloguesOptions): Promise<WholeCatalogue> {
  const files = (await readCatalogueFiles(options)).flatMap(({ path, read }) => {
    if (read.state === 'broken') throw catalogueError(path, read.problems);
    return read.state === 'good' ? [{ path, servers: read.servers }] : [];
  });
  const shipped = shippedOf(options);
  return { servers: [...files.flatMap(({ servers }) => servers), ...shipped], files, shipped };
}

function shippedOf({ shipped, expansions }: CataloguesOptions): Catalogue {
  return readShippedCatalogue(shipped, expansions);
}

function serversOf(read: CatalogueRead): Catalogue {
  return read.state === 'good' ? read.servers : [];
}

function stateOf(read: Exclude<CatalogueRead, { state: 'absent' }>): 'ok' | 'broken' {
  return read.state === 'broken' || hasErrors(read.problems) ? 'broken' : 'ok';
}
