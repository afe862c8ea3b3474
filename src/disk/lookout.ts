import type { Clock } from './clock.ts';
import type { KernelWalk } from './kernel-walk.ts';
import type { Looking } from './looking.ts';
import type { Mount } from './mount.ts';
import type { MountTable } from './mounts.ts';
import { siblingWalk } from './sibling-walk.ts';
import { guardWalk, SlowMounts } from './slow-mounts.ts';
import type { Asked, SlowPlaces } from './slow-places.ts';
import type { SlowAnswer, SlowQuestion } from './slow-question.ts';

export interface LookoutOptions {
  readonly walk: KernelWalk;
  readonly mounts: MountTable;
  readonly clock: Clock;
  /** null: all is looked at by this thread. */
  readonly helper: SlowPlaces<Looking> | null;
}

/** How the disk is looked at: by this thread where that returns at once, by a helper process where it may hang. */
export class Lookout {
  readonly mounts: MountTable;
  readonly clock: Clock;
  /** Where there is a helper it enters no slow mount: its failure names the mount instead. */
  readonly walk: KernelWalk;
  readonly #slow: SlowMounts;
  readonly #helper: SlowPlaces<Looking> | null;

  constructor({ walk, mounts, clock, helper }: LookoutOptions) {
    this.mounts = mounts;
    this.clock = clock;
    this.#slow = new SlowMounts(mounts);
    this.#helper = helper;
    this.walk = helper === null ? walk : siblingWalk(guardWalk(walk, this.#slow), this.mayTouch);
  }

  /** May this thread look at a path without links? */
  readonly mayTouch = (path: string): boolean => this.#helper === null || this.#slow.covering(path) === null;

  /** What the helper has seen; it looks again, and what is different then is told. */
  ask<A extends SlowAnswer>(looking: Looking, mount: Mount, question: SlowQuestion): Asked<A> {
    return this.#helper?.ask<A>(looking, mount, question) ?? { state: 'open' };
  }

  /** It lies where this thread may look. */
  forget(looking: Looking): void {
    this.#helper?.forget(looking);
  }
}
