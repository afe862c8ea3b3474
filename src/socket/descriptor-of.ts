import type { Server, Socket } from 'node:net';

/** Node has no public way to a socket's descriptor. -1 once it is closed, which every call refuses. */
export function descriptorOf(socket: Socket | Server): number {
  const { _handle: handle } = socket as unknown as { readonly _handle: { readonly fd?: number } | null };
  return handle?.fd ?? -1;
}
