// A result of the modern era that asks the client something, and ends the request: whoever wants the result asks again, with
// the answers.

import { INPUT_REQUIRED, METHOD } from '../core/protocol.ts';
import { type Edit, memberOf, objectAt, objectOf, removeMembers } from './splice.ts';

export interface Questions {
  /** Keys of what asks for roots, and of all else. */
  readonly roots: readonly string[];
  readonly others: readonly string[];
  /** The server's state: the JSON text as it stands there, and what it says. null: it gave none. */
  readonly state: { readonly json: Buffer; readonly value: string } | null;
}

/** Keys with which a result can begin that asks something. */
const FIRST_KEYS: ReadonlySet<string> = new Set(['resultType', 'inputRequests', 'requestState', '_meta']);
const FIRST_MEMBER = /"result": ?\{ ?"([A-Za-z_]+)": ?("complete")?/;

/** Can these first bytes of a long answer be followed by questions? */
export function mayAsk(head: Buffer): boolean {
  const text = head.toString('latin1');
  const match = FIRST_MEMBER.exec(text);
  if (match === null) return !/"error": ?\{/.test(text);
  const [, key = '', complete] = match;
  return FIRST_KEYS.has(key) && !(key === 'resultType' && complete !== undefined);
}

/** The questions in an answer; null: it has none, or is an error. */
export function readQuestions(line: Buffer): Questions | null {
  if (!line.includes(INPUT_REQUIRED)) return null;
  const { result } = parse(line);
  if (!isObject(result) || result.resultType !== INPUT_REQUIRED) return null;
  const requests = isObject(result.inputRequests) ? Object.entries(result.inputRequests) : [];
  const keysOf = (wanted: boolean): readonly string[] =>
    requests.filter(([, request]) => asksForRoots(request) === wanted).map(([key]) => key);
  return { roots: keysOf(true), others: keysOf(false), state: stateIn(line, result.requestState) };
}

/** Takes questions out of an answer. */
export function removeQuestions(line: Buffer, keys: readonly string[]): readonly Edit[] {
  const requests = objectOf(line, memberOf(line, resultIn(line), 'inputRequests'));
  return removeMembers(line, requests, (key) => keys.includes(key));
}

function stateIn(line: Buffer, value: unknown): Questions['state'] {
  const member = typeof value === 'string' ? memberOf(line, resultIn(line), 'requestState') : undefined;
  if (member === undefined) return null;
  return { json: Buffer.from(line.subarray(member.start, member.end)), value: String(value) };
}

function resultIn(line: Buffer): number {
  return objectOf(line, memberOf(line, objectAt(line), 'result'));
}

function asksForRoots(request: unknown): boolean {
  return isObject(request) && request.method === METHOD.listRoots;
}

function parse(line: Buffer): { readonly result?: unknown } {
  try {
    return JSON.parse(line.toString('utf8')) as { readonly result?: unknown };
  } catch {
    return {};
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
