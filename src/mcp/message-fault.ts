import { isJSONRPCRequest, type JSONRPCMessage, UnsupportedProtocolVersionError } from '@modelcontextprotocol/server';
import { areModern, MODERN_META, MODERN_REVISION, RPC, type RpcError } from '../core/protocol.ts';
import { readInitializeParams } from './read-params.ts';
import { RequestRefused } from './request-refused.ts';

/** Why a message of a client is not given to the SDK; null: nothing is wrong with it. */
export function messageFault(message: JSONRPCMessage): RpcError | null {
  if (!('id' in message)) return null;
  // What the SDK does not take for a message it drops, and a client would wait for ever.
  if (!isJSONRPCRequest(message)) {
    return { code: RPC.invalidParams, message: 'Invalid params: "id" or "_meta" is not as MCP has it' };
  }
  const { method, params = {} } = message;
  // And to what it cannot read it would answer that we are at fault.
  if (method === 'initialize' && !areModern(params)) return refusalOf(() => readInitializeParams(params));
  const requested = params._meta?.[MODERN_META.version];
  // The SDK looks at the revision of the first request, and each one may be of another.
  if (typeof requested !== 'string' || requested === MODERN_REVISION) return null;
  const {
    code,
    message: text,
    data,
  } = new UnsupportedProtocolVersionError({ supported: [MODERN_REVISION], requested });
  return { code, message: text, data };
}

function refusalOf(read: () => void): RpcError | null {
  try {
    read();
    return null;
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    return { code: error.code, message: error.message };
  }
}
