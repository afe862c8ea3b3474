// What a line is, as cheaply as can be told. JSON-RPC messages begin or end with what tells them apart: `id`, `method`,
// `result` or `error` (all SDKs write so). Where a look at these bytes does not decide, the line is parsed.
//
// Exact for messages whose keys are unique. What a line with two `method` members means, each reader decides for itself:
// where one of them asks for roots, server-messages.ts takes it for that.

import { readHead, readTailId } from './message-edges.ts';
import { memberOf } from './splice.ts';

/** Ids are JSON texts, written as JSON.stringify() would, so that a number keeps its digits. */
export type Message =
  /** A request, or with `id: null` a notification. */
  | { readonly kind: 'call'; readonly method: string; readonly id: string | null }
  | { readonly kind: 'answer'; readonly id: string | null }
  | { readonly kind: 'batch' }
  /** Not a message of JSON-RPC, or not JSON at all. */
  | { readonly kind: 'noise' };

/** Reads a whole line. */
export function readMessage(line: Buffer): Message {
  const head = readHead(line);
  if (head === null) return parseMessage(line);
  const { method } = head;
  const id = head.id ?? readTailId(line);
  if (id === null && (method === null || !method.startsWith('notifications/'))) return parseMessage(line);
  return method === null ? { kind: 'answer', id } : { kind: 'call', method, id };
}

/** Reads a line the long way. */
export function parseMessage(line: Buffer): Message {
  let value: unknown;
  try {
    value = JSON.parse(line.toString('utf8'));
  } catch {
    return { kind: 'noise' };
  }
  if (Array.isArray(value)) return { kind: 'batch' };
  if (typeof value !== 'object' || value === null) return { kind: 'noise' };
  const { method, id } = value as { readonly method?: unknown; readonly id?: unknown };
  const idText = id === undefined ? null : (exactNumber(line, id) ?? JSON.stringify(id));
  if (typeof method === 'string') return { kind: 'call', method, id: idText };
  return 'result' in value || 'error' in value ? { kind: 'answer', id: idText } : { kind: 'noise' };
}

/** A number as it stands in the line: one above 2^53 keeps its digits. */
function exactNumber(line: Buffer, id: unknown): string | undefined {
  if (typeof id !== 'number') return undefined;
  const member = memberOf(line, line.indexOf('{'), 'id');
  return member && line.toString('latin1', member.start, member.end);
}
