// The way of an MCP client to the daemon: who it is is said first, then the connection is the client's, byte for byte.

import type { Socket } from 'node:net';
import { ATTACH_VERSION, METHOD } from '../core/protocol.ts';
import { connectTo, DEFAULT_DEADLINE_MS, LostConnection } from './connect.ts';
import { RefusedRequest, toRpcError } from './connection.ts';

export interface Introduction {
  readonly server: string | null;
  readonly host: string | null;
}

const LINE_FEED = 0x0a;
/** Of the answer. */
const MAX_BYTES = 64 * 1024;

/** Connects and says who the client is. Rejects with a LostConnection or a RefusedRequest. */
export async function introduce(path: string, { server, host }: Introduction): Promise<Socket> {
  const socket = await connectTo(path, {});
  try {
    const params = { version: ATTACH_VERSION, server, host };
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: METHOD.endpoint, params })}\n`);
    const { error } = (await readReply(socket)) as { readonly error?: unknown };
    if (error !== undefined) throw new RefusedRequest(toRpcError(error));
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The first line, and not a byte more. */
async function readReply(socket: Socket): Promise<unknown> {
  const line = await new Promise<string>((resolve, reject) => {
    let read = Buffer.alloc(0);
    const stop = (): void => {
      clearTimeout(deadline);
      socket.off('data', take).off('close', lose).off('error', lose).pause();
    };
    const lose = (): void => {
      stop();
      reject(new LostConnection('the daemon does not answer as it must'));
    };
    const take = (chunk: Buffer): void => {
      read = Buffer.concat([read, chunk]);
      const end = read.indexOf(LINE_FEED);
      if (end === -1) {
        if (read.length > MAX_BYTES) lose();
        return;
      }
      stop();
      if (end + 1 < read.length) socket.unshift(read.subarray(end + 1));
      resolve(read.toString('utf8', 0, end));
    };
    const deadline = setTimeout(lose, DEFAULT_DEADLINE_MS);
    socket.on('data', take).on('close', lose).on('error', lose);
  });
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new LostConnection('the daemon does not answer as it must', { cause });
  }
}
