// servers.yaml, as strict as a policy: with one problem in it, nothing of it is used.

import { readFileSync } from 'node:fs';
import type { Catalogue } from '../core/catalogue.ts';
import { type Problem, problem, RootsError, startOf } from '../core/errors.ts';
import type { Expansions } from '../core/pattern.ts';
import { compileCatalogue } from './compile-catalogue.ts';
import { decodeText } from './decode-text.ts';
import { parseYaml } from './parse-yaml.ts';
import { PolicySource, readSource } from './policy-source.ts';
import { hasErrors, inFileOrder } from './problem-order.ts';
import { whyUnreadable } from './read-layer.ts';
import { type Trust, TrustedReader } from './trust.ts';

const MAX_CATALOGUE_BYTES = 1024 * 1024;

export type CatalogueRead =
  | { readonly state: 'good'; readonly servers: Catalogue; readonly problems: readonly Problem[] }
  | { readonly state: 'absent' }
  | { readonly state: 'broken'; readonly problems: readonly Problem[] };

export interface ReadCatalogueOptions {
  readonly expansions: Expansions;
  readonly trust: Trust;
}

/** Reads the catalogue at `path`. Never rejects for what stands on the disk. */
export async function readCatalogue(path: string, { expansions, trust }: ReadCatalogueOptions): Promise<CatalogueRead> {
  try {
    const { bytes, problems } = await new TrustedReader(trust).read(path, MAX_CATALOGUE_BYTES);
    if (bytes === null) return { state: 'broken', problems };
    const text = decodeText(path, bytes, MAX_CATALOGUE_BYTES);
    if (typeof text !== 'string') return { state: 'broken', problems: inFileOrder([...problems, text]) };
    return parseCatalogue(path, text, { expansions, known: problems });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { state: 'absent' };
    const what = whyUnreadable(error);
    return { state: 'broken', problems: [problem('CATALOGUE_UNREADABLE', startOf(path), { file: path, what })] };
  }
}

/** The same for a text; `known`: problems of the file that were found before. */
export function parseCatalogue(
  path: string,
  text: string,
  { expansions, known = [] }: { readonly expansions: Expansions; readonly known?: readonly Problem[] },
): CatalogueRead {
  const { source, problems } = readSource('servers', 'system', path, text);
  const found = [...known, ...problems];
  if (source === null || hasErrors(problems)) return { state: 'broken', problems: inFileOrder(found) };
  const servers = compileCatalogue(source, expansions);
  const all = inFileOrder([...found, ...source.problems]);
  return hasErrors(all) ? { state: 'broken', problems: all } : { state: 'good', servers, problems: all };
}

/**
 * The catalogue that comes with us, at `path`. A test holds it against the schema, which is not compiled for it again each
 * time; whoever can write it has replaced the program.
 */
export function readShippedCatalogue(path: string, expansions: Expansions): Catalogue {
  const { yaml, problems } = parseYaml(path, readFileSync(path, 'utf8'));
  const source = yaml === null ? null : new PolicySource('system', yaml, () => false);
  const servers = source === null ? [] : compileCatalogue(source, expansions);
  const wrong = [...problems, ...(source?.problems ?? [])];
  if (source === null || hasErrors(wrong)) throw catalogueError(path, wrong);
  return servers;
}

/** What a broken catalogue is, in one error. */
export function catalogueError(path: string, problems: readonly Problem[]): RootsError {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const details = first === undefined ? {} : { at: first, ...(first.hint === undefined ? {} : { hint: first.hint }) };
  return new RootsError(
    'CATALOGUE_INVALID',
    { file: path, what: `${first?.message ?? 'it cannot be used'}${more}` },
    details,
  );
}
