// How many questions a person gets. A hostile server floods, reconnects and renames itself: there is a limit for each name,
// and one for all of them.

interface Limit {
  /** At once, when there was none for long. */
  readonly burst: number;
  /** One more after each. */
  readonly refillMs: number;
}

const OF_SERVER: Limit = { burst: 64, refillMs: 60_000 };
const OF_ALL: Limit = { burst: 256, refillMs: 10_000 };
/** More names than this are of somebody who makes them up. */
const MAX_SERVERS = 1_024;

interface Bucket {
  readonly left: number;
  readonly atMs: number;
}

export class QuestionRate {
  /** Those that were used last are last. */
  readonly #servers = new Map<string, Bucket>();
  #all: Bucket | undefined;

  /** May one more be asked now? Then it is counted. */
  take(server: string | null, nowMs: number): boolean {
    const name = server ?? '';
    const ofServer = refilled(this.#servers.get(name), OF_SERVER, nowMs);
    const ofAll = refilled(this.#all, OF_ALL, nowMs);
    if (ofServer.left < 1 || ofAll.left < 1) return false;
    this.#servers.delete(name);
    this.#servers.set(name, { ...ofServer, left: ofServer.left - 1 });
    this.#all = { ...ofAll, left: ofAll.left - 1 };
    const [oldest] = this.#servers.keys();
    if (this.#servers.size > MAX_SERVERS && oldest !== undefined) this.#servers.delete(oldest);
    return true;
  }
}

function refilled(bucket: Bucket | undefined, { burst, refillMs }: Limit, nowMs: number): Bucket {
  if (bucket === undefined) return { left: burst, atMs: nowMs };
  return { left: Math.min(burst, bucket.left + (nowMs - bucket.atMs) / refillMs), atMs: nowMs };
}
