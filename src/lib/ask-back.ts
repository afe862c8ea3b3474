// Asking a client of revision 2026-07-28 for its roots: within the result of the call, which it then makes again.

import { INPUT_REQUIRED, METHOD } from '../core/protocol.ts';
import { isObject } from './sdk.ts';

/** Under which key the question stands, and comes back answered. */
export const ROOTS_KEY = 'io.rootsd/roots';

const QUESTION = { [ROOTS_KEY]: { method: METHOD.listRoots } };

/** The result that asks for roots and nothing else. */
export function rootsAsked(): object {
  return { resultType: INPUT_REQUIRED, inputRequests: QUESTION };
}

/** A result as it is; where it asks the client for something itself, it asks for the roots too: each round is told anew. */
export function withRootsAsked<R>(result: R): R {
  if (!isObject(result) || result.resultType !== INPUT_REQUIRED) return result;
  const inputRequests = { ...(isObject(result.inputRequests) ? result.inputRequests : {}), ...QUESTION };
  return { ...result, inputRequests };
}
