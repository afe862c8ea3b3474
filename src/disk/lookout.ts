import type { KernelWalk } from './kernel-walk.ts';
import type { Looking } from './looking.ts';
import type { Mount, MountTable } from './mounts.ts';
import { guardWalk, SlowMounts } from './slow-mounts.ts';
import type { Asked, SlowPlaces } from './slow-places.ts';
import type { SlowAnswer, SlowQuestion } from './slow-question.ts';

/** How the disk is looked at: by this thread where that returns at once, by a helper process where it may hang. */
export class Lookout {
  readonly mounts: MountTable;
  /** Where there is a helper it enters no slow mount: its failure names the mount instead. */
  readonly walk: KernelWalk;
  readonly #slow: SlowMounts;
  readonly #helper: SlowPlaces<Looking> | null;

  /** Without a helper all is looked at by this thread. */
  constructor(walk: KernelWalk, mounts: MountTable, helper: SlowPlaces<Looking> | null) {
    this.mounts = mounts;
    this.#slow = new SlowMounts(mounts);
    this.#helper = helper;
    this.walk = helper === null ? walk : guardWalk(walk, this.#slow);
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
