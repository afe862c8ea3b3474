import type { Place } from '../core/place.ts';
import type { Observation } from './availability.ts';
import type { MountTable } from './mounts.ts';

/**
 * What a mount and its end mean for one root. A file system mounted over a root is another directory in its place. An
 * unmounted one leaves the directory that it was mounted on, which was never meant: the root is away until something is
 * mounted there again, or another directory is put there. What lay there before the mount was seen to come is the root again.
 */
export class MountPin {
  readonly #mounts: MountTable;
  #last: Pinned | null = null;
  /** Identity of what was the root before something was mounted over it. */
  #below: string | null = null;
  /** Identity of what an unmounted file system has left. */
  #bare: string | null = null;

  constructor(mounts: MountTable) {
    this.#mounts = mounts;
  }

  judge(seen: Observation): Observation {
    if (seen.state === 'absent' && seen.isDeleted) return this.#judgeDeleted(seen);
    if (seen.state !== 'there') return seen;
    const { place } = seen;
    // The table must be no older than the look.
    if (this.#last !== null && this.#last.place.identity !== place.identity) this.#mounts.refresh();
    const isMounted = this.#mounts.isMountPoint(place.path);
    if (!isMounted && this.#isLeftBare(place)) {
      return { state: 'refused', place, why: 'lies on a file system that is not mounted' };
    }
    this.#pin(place, isMounted);
    return seen;
  }

  /** What is missed because of a mount is not back in a moment. */
  #judgeDeleted(seen: Observation & { readonly state: 'absent' }): Observation {
    const last = this.#last;
    if (last === null) return seen;
    this.#mounts.refresh();
    const isOther = last.mount !== this.#mounts.mountOf(last.place.path)?.id;
    this.#last = null;
    this.#below = null;
    return isOther ? { ...seen, state: 'refused' } : seen;
  }

  #pin(place: Place, isMounted: boolean): void {
    const { version } = this.#mounts;
    const last = this.#last;
    this.#bare = null;
    if (last?.version === version && last.place.path === place.path && last.place.identity === place.identity) return;
    if (!isMounted) this.#below = null;
    else if (last?.isMounted === false) this.#below = last.place.identity;
    this.#last = { place, isMounted, mount: this.#mounts.mountOf(place.path)?.id, version };
  }

  #isLeftBare({ path, identity }: Place): boolean {
    const last = this.#last;
    if (last === null || !last.isMounted || last.place.path !== path) return false;
    if (identity === last.place.identity || identity === this.#below) return false;
    this.#bare ??= identity;
    return identity === this.#bare;
  }
}

interface Pinned {
  readonly place: Place;
  /** Is it the top of a mount? */
  readonly isMounted: boolean;
  /** The mount in which it lies. */
  readonly mount: string | undefined;
  /** Of the mount table that says so. */
  readonly version: number;
}
