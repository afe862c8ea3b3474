// Parameters of requests, checked. Each function throws a RequestRefused (-32602) that names the member and says how it
// must be; the SDK's own check would answer -32603, with what its schema says.

import { invalidParams } from './request-refused.ts';

export type Params = Readonly<Record<string, unknown>>;

/** Of a list: all of it is one page, so no cursor is ours. */
export function readListParams({ cursor }: Params): void {
  if (cursor !== undefined) throw invalidParams('"cursor" is none that was given');
}

export function readUri({ uri }: Params): string {
  return readText('uri', uri);
}

export interface CallParams {
  readonly name: string;
  readonly given: Params;
}

export function readCallParams(params: Params): CallParams {
  const { arguments: given = {} } = params;
  if (!isObject(given)) throw invalidParams('"arguments" must be an object');
  return { name: readText('name', params.name), given };
}

export function readText(key: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw invalidParams(`"${key}" must be a string`);
}

export function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
