// Resources that a client wants to hear of. They are looked at again and again, all of them, only while there are any: a
// watch for each would take the kernel's from the roots themselves.

import type { Clock } from '../disk/clock.ts';
import type { EndpointSession } from './endpoint-session.ts';
import { fetchVisible } from './places.ts';
import { pathOfUri } from './resources.ts';

/** Of one session. */
export const MAX_SUBSCRIPTIONS = 100;
const LOOK_MS = 2_000;

export interface SubscriptionsOptions {
  readonly session: EndpointSession;
  readonly clock: Clock;
  readonly onUpdate: (uri: string) => void;
  readonly onBug: (error: unknown) => void;
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  /** What each looked like last; undefined: not looked at yet. */
  readonly #seen = new Map<string, string | null | undefined>();
  #cancel: (() => void) | null = null;
  #isLooking = false;
  #isClosed = false;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Hears of a resource from now on; false: there are too many. */
  async add(uri: string): Promise<boolean> {
    if (this.#seen.has(uri)) return true;
    if (this.#seen.size >= MAX_SUBSCRIPTIONS) return false;
    this.#seen.set(uri, undefined);
    await this.#lookFor(uri);
    this.#schedule();
    return true;
  }

  remove(uri: string): void {
    this.#seen.delete(uri);
  }

  /** Looks at all of them; resolves when what has changed is told. */
  async lookAgain(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    for (const uri of [...this.#seen.keys()]) await this.#lookFor(uri);
    this.#isLooking = false;
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#seen.clear();
  }

  #schedule(): void {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#isClosed || this.#seen.size === 0) return;
    this.#cancel = this.#options.clock.after(LOOK_MS, () => void this.lookAgain());
  }

  /** Tells where there is something else now. What fails for one holds up none of the others. */
  async #lookFor(uri: string): Promise<void> {
    if (this.#isClosed) return;
    try {
      const seen = await this.#look(uri);
      const before = this.#seen.get(uri);
      // It may have been removed meanwhile.
      if (!this.#seen.has(uri) || before === seen) return;
      this.#seen.set(uri, seen);
      if (before !== undefined) this.#options.onUpdate(uri);
    } catch (error) {
      this.#options.onBug(error);
    }
  }

  /** null: there is nothing that the session may see. */
  async #look(uri: string): Promise<string | null> {
    const path = pathOfUri(uri);
    const place = path === null ? null : await fetchVisible(this.#options.session, path, { want: 'look' });
    return place?.signature ?? null;
  }
}
