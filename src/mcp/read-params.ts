// Parameters of requests, checked. Each function throws a RequestRefused (-32602) that names the member and says how it
// must be; the SDK's own check would answer -32603, with what its schema says.

import type { Chosen } from '../core/offered-prompts.ts';
import { invalidParams } from './request-refused.ts';

export type Params = Readonly<Record<string, unknown>>;

/** Of the legacy handshake. */
export function readInitializeParams({ protocolVersion, capabilities, clientInfo }: Params): void {
  readText('protocolVersion', protocolVersion);
  if (!isObject(capabilities)) throw invalidParams('"capabilities" must be an object');
  if (!isObject(clientInfo)) throw invalidParams('"clientInfo" must be an object');
  readText('clientInfo.name', clientInfo.name);
  readText('clientInfo.version', clientInfo.version);
}

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

export interface GetPromptParams {
  readonly name: string;
  readonly chosen: Chosen;
}

export function readGetPromptParams(params: Params): GetPromptParams {
  return { name: readText('name', params.name), chosen: readChosen('arguments', params.arguments) };
}

export interface CompleteParams {
  readonly ref:
    | { readonly kind: 'prompt'; readonly name: string }
    | { readonly kind: 'resource'; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly chosen: Chosen;
}

export function readCompleteParams({ ref, argument, context = {} }: Params): CompleteParams {
  if (!isObject(argument)) throw invalidParams('"argument" must be an object');
  if (!isObject(context)) throw invalidParams('"context" must be an object');
  const name = readText('argument.name', argument.name);
  const value = readText('argument.value', argument.value);
  return { ref: readRef(ref), argument: { name, value }, chosen: readChosen('context.arguments', context.arguments) };
}

function readRef(ref: unknown): CompleteParams['ref'] {
  const { type, name, uri } = isObject(ref) ? ref : {};
  if (type === 'ref/prompt') return { kind: 'prompt', name: readText('ref.name', name) };
  if (type === 'ref/resource') return { kind: 'resource', uri: readText('ref.uri', uri) };
  throw invalidParams('"ref.type" must be "ref/prompt" or "ref/resource"');
}

function readChosen(key: string, value: unknown = {}): Chosen {
  if (!isObject(value)) throw invalidParams(`"${key}" must be an object`);
  return new Map(Object.entries(value).map(([name, text]) => [name, readText(`${key}.${name}`, text)]));
}

function readText(key: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw invalidParams(`"${key}" must be a string`);
}

function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
