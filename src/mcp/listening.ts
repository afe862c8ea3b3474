// What a modern client listens to: it says so in a request that lasts as long, and that the SDK answers itself.

import { RPC, type RpcError } from '../core/protocol.ts';
import { MAX_SUBSCRIPTIONS, type Subscriptions } from './subscriptions.ts';

/** Of one session; the SDK refuses one more. */
export const MAX_LISTENING = 100;
export const LISTEN = 'subscriptions/listen';

export class Listening {
  readonly #subscriptions: Subscriptions;
  /** URIs by the id of the request. */
  readonly #uris = new Map<unknown, readonly string[]>();

  constructor(subscriptions: Subscriptions) {
    this.#subscriptions = subscriptions;
  }

  /** Does a request of this id last? */
  has(id: unknown): boolean {
    return this.#uris.has(id);
  }

  /** A request that the SDK is given next, or why it must not be: half of what is asked for is never given in silence. */
  begin(id: unknown, params: Readonly<Record<string, unknown>> | undefined): RpcError | null {
    if (this.#uris.size >= MAX_LISTENING) return null;
    const uris = urisOf(params);
    if (new Set([...this.#all(), ...uris]).size > MAX_SUBSCRIPTIONS) return TOO_MANY_RESOURCES;
    this.#uris.set(id, uris);
    for (const uri of uris) void this.#subscriptions.add(uri);
    return null;
  }

  /** The client listens no longer, or was refused. */
  end(id: unknown): void {
    const uris = this.#uris.get(id) ?? [];
    this.#uris.delete(id);
    const others = this.#all();
    for (const uri of uris) if (!others.has(uri)) this.#subscriptions.remove(uri);
  }

  #all(): ReadonlySet<string> {
    return new Set([...this.#uris.values()].flat());
  }
}

export const TOO_MANY_RESOURCES: RpcError = {
  code: RPC.invalidRequest,
  message: `At most ${MAX_SUBSCRIPTIONS} resources can be subscribed to`,
};

function urisOf(params: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const { notifications } = params ?? {};
  if (typeof notifications !== 'object' || notifications === null || !('resourceSubscriptions' in notifications))
    return [];
  const given = notifications.resourceSubscriptions;
  return Array.isArray(given) ? given.filter((uri) => typeof uri === 'string') : [];
}
