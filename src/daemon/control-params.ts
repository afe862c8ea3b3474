import { RootsError } from '../core/errors.ts';

/** Named parameters of the kinds given, all optional. Throws RootsError USAGE for anything else. */
export function parseParams(params: unknown, kinds: Readonly<Record<string, string>>): Record<string, unknown> {
  if (params === undefined || params === null) return {};
  if (typeof params !== 'object' || Array.isArray(params)) throw invalidParams('params must be an object');
  for (const [name, value] of Object.entries(params)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) throw invalidParams(`unknown parameter "${name}"`);
    if (typeof value !== kind) throw invalidParams(`parameter "${name}" must be a ${kind}`);
  }
  return params as Record<string, unknown>;
}

export function invalidParams(what: string): RootsError {
  return new RootsError('USAGE', { what: `Cannot answer: ${what}` });
}
