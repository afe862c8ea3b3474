import { isJSONRPCRequest, type JSONRPCMessage, UnsupportedProtocolVersionError } from '@modelcontextprotocol/server';
import { MODERN_META, MODERN_REVISION, RPC, type RpcError } from '../core/protocol.ts';

/** Why a message of a client is not given to the SDK; null: nothing is wrong with it. */
export function messageFault(message: JSONRPCMessage): RpcError | null {
  if (!('id' in message)) return null;
  // What the SDK does not take for a message it drops, and a client would wait for ever.
  if (!isJSONRPCRequest(message)) {
    return { code: RPC.invalidParams, message: 'Invalid params: "id" or "_meta" is not as MCP has it' };
  }
  const requested = message.params?._meta?.[MODERN_META.version];
  // The SDK looks at the revision of the first request, and each one may be of another.
  if (typeof requested !== 'string' || requested === MODERN_REVISION) return null;
  const {
    code,
    message: text,
    data,
  } = new UnsupportedProtocolVersionError({ supported: [MODERN_REVISION], requested });
  return { code, message: text, data };
}
