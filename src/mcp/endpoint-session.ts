import type { Evidence } from '../core/evidence.ts';
import type { Peer } from '../core/peer.ts';
import type { Circumstances } from '../core/standing.ts';
import type { View } from '../core/view.ts';
import type { Fetched, FetchRequest } from '../disk/fetch-place.ts';
import type { Leads } from '../disk/path-look.ts';

/** What is in force for one session at this moment. */
export interface Sight {
  readonly peer: Peer;
  readonly view: View;
  readonly evidence: Evidence;
  readonly circumstances: Circumstances;
}

/** What the endpoint knows of the session it serves. Nothing of it is kept across a wait: it may be another by then. */
export interface EndpointSession {
  readonly id: string;
  sight(): Sight;
  fetch(request: FetchRequest): Promise<Fetched>;
  /** Where a path leads; a mount that may hang takes a moment, and no longer. */
  resolve(path: string): Promise<Leads>;
  /** Asks a person for a root until that is given up; resolves when it is decided and in force, or nobody is asked any more. */
  request(root: string, givenUp: AbortSignal): Promise<void>;
}
