// JSON-RPC 2.0 messages, one at a time: batches are not part of MCP since 2025-06-18 and never of this protocol.

import { RootsError } from '../core/errors.ts';
import { type Id, RPC, type RpcError } from '../core/protocol.ts';

export type Params = Readonly<Record<string, unknown>>;

export type Message =
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: Params }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  | { readonly kind: 'response' }
  | { readonly kind: 'invalid'; readonly id: Id | null; readonly error: RpcError };

/** What a peer gets for a request that we do not serve; `error` is what goes into the reply. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

/** Reads one parsed line. Absent params are an empty object: MCP gives absence no meaning of its own. */
export function readMessage(value: unknown): Message {
  if (Array.isArray(value)) return invalid(null, 'batches are not served');
  if (!isObject(value)) return invalid(null, 'it is not an object');
  const { jsonrpc, id, method, params = {} } = value;
  const replyTo = isId(id) ? id : null;
  if (jsonrpc !== '2.0') return invalid(replyTo, '"jsonrpc" is not "2.0"');
  if (method === undefined && ('result' in value || 'error' in value)) return { kind: 'response' };
  if (typeof method !== 'string') return invalid(replyTo, '"method" is not a string');
  if (!('id' in value)) return { kind: 'notification', method, params: isObject(params) ? params : {} };
  if (replyTo === null) return invalid(null, '"id" is neither a string nor a number that JSON keeps exact');
  if (!isObject(params)) {
    return { kind: 'invalid', id: replyTo, error: invalidParams('"params" is not an object').error };
  }
  return { kind: 'request', id: replyTo, method, params };
}

/** The reply to a request; `resultJson` is JSON text, so that it can be made once for many. */
export function resultReply(id: Id, resultJson: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultJson}}`;
}

/** The error reply; a null id answers what could not be read. */
export function errorReply(id: Id | null, error: RpcError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

/** A notification without parameters. */
export function notification(method: string): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`;
}

/** A notification up to its parameters; they follow, then `}`. */
export function notificationStart(method: string): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":`;
}

/** A refusal of a request's parameters. */
export function invalidParams(what: string, data?: Params): Refusal {
  const error = { code: RPC.invalidParams, message: `Invalid params: ${what}` };
  return new Refusal(data === undefined ? error : { ...error, data });
}

/** A refusal of a method, with the reason a person needs. */
export function methodNotFound(message: string, reason: string): Refusal {
  return new Refusal({ code: RPC.methodNotFound, message, data: { reason } });
}

/**
 * What the other end is told of an error: a refusal as it is, our errors by code, text and hint, a bug without anything
 * from inside. Causes are for the log.
 */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof Refusal) return error.error;
  if (!(error instanceof RootsError) || isBug(error)) return { code: RPC.internal, message: 'Internal error' };
  const { code, message, hint } = error;
  return { code: rpcCodeOf(error), message, data: hint === undefined ? { code } : { code, hint } };
}

/** Is it neither a refusal nor one of our errors? */
export function isBug(error: unknown): boolean {
  return !(error instanceof Refusal) && !(error instanceof RootsError && error.kind !== 'bug');
}

function rpcCodeOf({ code, kind }: RootsError): number {
  if (code === 'PEER_MALFORMED') return RPC.parse;
  if (kind === 'usage') return RPC.invalidParams;
  return kind === 'peer' ? RPC.invalidRequest : RPC.internal;
}

function invalid(id: Id | null, what: string): Message {
  return { kind: 'invalid', id, error: { code: RPC.invalidRequest, message: `Invalid request: ${what}` } };
}

/** Larger numbers lose digits when they are parsed: the reply would name another request. */
function isId(value: unknown): value is Id {
  return typeof value === 'string' || (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER);
}

function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
