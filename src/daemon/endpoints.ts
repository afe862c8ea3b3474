import { LOG_EVENTS } from '../core/log-event.ts';
import { SYSTEM_CLOCK } from '../disk/clock.ts';
import { kernelWalk } from '../disk/kernel-walk.ts';
import { MountTable } from '../disk/mounts.ts';
import type { Native } from '../disk/native.ts';
import type { Leads } from '../disk/path-look.ts';
import { PlaceFetcher } from '../disk/place-fetcher.ts';
import type { Endpoint } from '../mcp/endpoint.ts';
import type { Sight } from '../mcp/endpoint-session.ts';
import type { AttachedSession, EndpointConversation, EndpointLine } from '../socket/authority.ts';
import type { Log } from '../system/log.ts';
import { VERSION } from '../version.ts';

export interface EndpointsOptions {
  readonly sightOf: (session: AttachedSession) => () => Sight;
  readonly resolve: (path: string) => Promise<Leads>;
  readonly request: (session: AttachedSession, root: string, givenUp: AbortSignal) => Promise<void>;
  readonly native: Native | null;
  readonly log: Log;
}

/** The MCP clients that are served. A daemon without any pays nothing for them. */
export class Endpoints implements Disposable {
  readonly #options: EndpointsOptions;
  readonly #open = new Set<Endpoint>();
  #fetcher: PlaceFetcher | null = null;

  constructor(options: EndpointsOptions) {
    this.#options = options;
  }

  async open(session: AttachedSession, line: EndpointLine): Promise<EndpointConversation> {
    const { sightOf, resolve, request, log } = this.#options;
    const sight = sightOf(session);
    const { openEndpoint } = await import('../mcp/endpoint.ts');
    const { id } = session;
    const client = new AbortController();
    const endpoint = openEndpoint({
      ...line,
      session: {
        id,
        sight,
        resolve,
        fetch: (wanted) => this.#placeFetcher().fetch(wanted, client.signal),
        request: (root, givenUp) => request(session, root, givenUp),
      },
      version: VERSION,
      clock: SYSTEM_CLOCK,
      onBug: (error) => log('error', LOG_EVENTS.bug, { session: id, error }),
    });
    this.#open.add(endpoint);
    return {
      receive: (message) => endpoint.receive(message),
      closed: () => {
        client.abort();
        this.#open.delete(endpoint);
        endpoint.closed();
      },
    };
  }

  /** Policy or disk have changed. */
  changed(): void {
    for (const endpoint of this.#open) endpoint.changed();
  }

  close(): void {
    this.#fetcher?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #placeFetcher(): PlaceFetcher {
    const { native } = this.#options;
    this.#fetcher ??= new PlaceFetcher({
      walk: kernelWalk(native?.openat2NoMagicLinks),
      mounts: new MountTable(native === null ? {} : { mountsChanged: native.mountsChanged }),
    });
    return this.#fetcher;
  }
}
