import { refused, unreachable } from './as-roots-error.ts';
import { Connection, type ConnectionOptions, LostConnection, RefusedRequest } from './connection.ts';
import { controlSocketOf, describeSearch, findSockets, type SearchOptions, whyRefused } from './find-socket.ts';

export interface ControlOptions extends Pick<ConnectionOptions, 'deadlineMs' | 'timer'> {
  /** Where to look for the daemon. `explicit` names the peers' socket; the control socket lies beside it. */
  readonly search: SearchOptions;
}

/**
 * Sends one request to the daemon's control socket and returns the result.
 * Throws a RootsError: DAEMON_UNREACHABLE where no daemon answers, else the daemon's own code (NOT_PERMITTED where it
 * gives none that we know).
 */
export async function requestControl(method: string, params: unknown, options: ControlOptions): Promise<unknown> {
  const { search, ...connectionOptions } = options;
  const connection = await openControl(search, connectionOptions);
  try {
    return await connection.request(method, params);
  } catch (error) {
    if (error instanceof RefusedRequest) throw refused(error);
    throw unreachable((error as Error).message, error);
  } finally {
    connection.close();
  }
}

/** Connects, for more than one request. Throws a RootsError DAEMON_UNREACHABLE. */
export async function openControl(search: SearchOptions, options: ConnectionOptions): Promise<Connection> {
  const found = findSockets(search);
  const reasons = found.refused.length === 0 ? [] : [describeSearch(found)];
  for (const path of found.usable.map(controlSocketOf)) {
    const why = whyRefused(path, search.uid);
    try {
      if (why === null) return await Connection.open(path, options);
      reasons.push(`"${path}": ${why}`);
    } catch (error) {
      if (!(error instanceof LostConnection)) throw error;
      reasons.push(error.message);
    }
  }
  throw unreachable(reasons.join('; '));
}
