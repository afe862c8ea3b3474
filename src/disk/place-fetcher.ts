// Fetches places for peers without holding anybody up: in slices where the disk answers at once, by a helper process of its
// own where it may not. What peers ask for must not make the watched roots of that mount late.

import { type Clock, SYSTEM_CLOCK } from './clock.ts';
import { failure } from './failure.ts';
import { type Fetched, type FetchRequest, fetchPlace } from './fetch-place.ts';
import type { KernelWalk } from './kernel-walk.ts';
import type { Mount } from './mount.ts';
import type { MountTable } from './mounts.ts';
import { resultInSlices } from './slices.ts';
import { guardWalk, SlowMounts } from './slow-mounts.ts';
import { type Asked, SlowPlaces } from './slow-places.ts';
import { Turns } from './turns.ts';

export interface PlaceFetcherOptions {
  readonly walk: KernelWalk;
  readonly mounts: MountTable;
  readonly clock?: Clock;
  /** What the helper runs; tests have others. */
  readonly script?: string;
}

/** One request to the helper. */
interface Waiting {
  readonly give: (fetched: Fetched) => void;
}

/**
 * So many are under way at once: a slice of each may go by before anybody else is served. More would end nothing sooner.
 */
const MAX_AT_ONCE = 2;

const NO_ANSWER = failure('lies on a file system that does not answer');

export class PlaceFetcher implements Disposable {
  readonly #mounts: MountTable;
  readonly #walk: KernelWalk;
  readonly #helper: SlowPlaces<Waiting>;
  readonly #turns = new Turns(MAX_AT_ONCE);
  /** One question to the helper for each client: whoever asks much of a mount that is slow waits for himself. */
  readonly #slowTurns = new Turns(Number.POSITIVE_INFINITY);
  #isClosed = false;

  constructor({ walk, mounts, clock = SYSTEM_CLOCK, script }: PlaceFetcherOptions) {
    this.#mounts = mounts;
    this.#walk = guardWalk(walk, new SlowMounts(mounts));
    const options = { clock, onAnswer: (waiting: Waiting) => this.#settle(waiting, this.#helper.known(waiting)) };
    this.#helper = new SlowPlaces(script === undefined ? options : { ...options, script });
  }

  /**
   * What lies at a path, if the bounds hold it; a mount that does not answer in time is a failure. A client waits for what
   * it has asked for before, and is the one that aborts `client` when it goes: nothing more is looked at for it.
   */
  async fetch(request: FetchRequest, client: AbortSignal): Promise<Fetched> {
    const fetched = await this.#turns.take(client, () => this.#look(request, client));
    if (fetched === null) return NO_ANSWER;
    const { value } = fetched;
    if (value.ok || value.slow === undefined) return value;
    const { slow } = value;
    return (await this.#slowTurns.take(client, () => this.#ask(request, slow))) ?? NO_ANSWER;
  }

  close(): void {
    this.#isClosed = true;
    this.#turns.close();
    this.#slowTurns.close();
    for (const { give } of this.#helper.subjects()) give(NO_ANSWER);
    this.#helper.close();
    this.#mounts.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #look(request: FetchRequest, client: AbortSignal): Promise<{ readonly value: Fetched } | null> {
    this.#mounts.refresh();
    return resultInSlices(fetchPlace(request, this.#walk), () => this.#isClosed || client.aborted);
  }

  #ask(request: FetchRequest, mount: Mount): Promise<Fetched> {
    return new Promise((give) => {
      const waiting = { give };
      this.#settle(waiting, this.#helper.ask(waiting, mount, { about: 'place', request }));
    });
  }

  #settle(waiting: Waiting, asked: Asked<Fetched>): void {
    if (asked.state === 'open') return;
    this.#helper.forget(waiting);
    waiting.give(asked.state === 'late' ? NO_ANSWER : asked.answer);
  }
}
