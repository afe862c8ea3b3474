// `rootsd/host`: what authors of MCP hosts import. See docs/lib-host.md.

import { type ConnectOptions, LiveRoots } from './live-roots.ts';

export type { Access } from '../core/access.ts';
export { RootsError } from '../core/errors.ts';
export type { Completer, CompleterOptions, Completion, CompletionRequest } from './completer.ts';
export type { ConnectOptions, LiveRoot, LiveRoots, LiveRootsEvents } from './live-roots.ts';
export type { SdkClient } from './sdk.ts';

/**
 * The roots of one server, live: what the daemon allows it now, and every change. Rejects with a RootsError:
 * DAEMON_UNREACHABLE where no daemon answers, else the daemon's own code.
 */
export function connectRoots(options: ConnectOptions): Promise<LiveRoots> {
  return LiveRoots.open(options);
}
