import type { RealPath } from '../core/path.ts';
import { type Failure, failure } from './failure.ts';
import type { Looking } from './looking.ts';
import type { Lookout } from './lookout.ts';
import { resolvePath } from './resolve.ts';
import type { PathAnswer } from './slow-question.ts';

/** Where a path leads, or would if it existed. */
export type Leads = { readonly ok: true; readonly path: RealPath } | Failure;

/** Where one path leads that somebody asks about once: on a mount that may hang the helper looks, and it takes a moment. */
export class PathLook implements Looking {
  readonly hints = [];
  readonly dueMs = null;
  readonly leads: Promise<Leads>;
  readonly #path: string;
  readonly #lookout: Lookout;
  #found: (leads: Leads) => void = () => {};

  constructor(path: string, lookout: Lookout) {
    this.#path = path;
    this.#lookout = lookout;
    this.leads = new Promise((resolve) => {
      this.#found = resolve;
    });
  }

  // biome-ignore lint/correctness/useYield: one look is one step; the interface is made for longer ones.
  *look(): Generator<void, boolean> {
    const leads = this.#see();
    if (leads === null) return false;
    this.#lookout.forget(this);
    this.#found(leads);
    return false;
  }

  /** null: the helper has not answered yet. */
  #see(): Leads | null {
    const resolved = resolvePath(this.#path, this.#lookout.walk);
    if (resolved.ok) return { ok: true, path: resolved.path };
    if (resolved.slow === undefined) return resolved;
    const asked = this.#lookout.ask<PathAnswer>(this, resolved.slow, { about: 'path', path: this.#path });
    if (asked.state === 'open') return null;
    if (asked.state === 'late') return failure('lies on a file system that does not answer');
    const { leadsTo, why } = asked.answer;
    return leadsTo === null ? failure(why) : { ok: true, path: leadsTo as RealPath };
  }
}
