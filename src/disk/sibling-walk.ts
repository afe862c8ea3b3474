import { type BigIntStats, lstatSync } from 'node:fs';
import { parentOf } from '../core/path.ts';
import { failureOf } from './failure.ts';
import type { KernelWalk } from './kernel-walk.ts';

/**
 * A walk that looks at many entries of one directory in a row at a quarter of the cost: a way without links that has just
 * been walked need not be walked again for the next entry, as long as nothing of ours happens in between. An ancestor
 * that is swapped within this slice is found by the next look, as one that is swapped right after it. `mayTouch`: what may
 * be looked at.
 */
export function siblingWalk(walk: KernelWalk, mayTouch: (path: string) => boolean): KernelWalk {
  let plainParent: string | null = null;
  const remember = (parent: string) => {
    if (plainParent === null) queueMicrotask(() => (plainParent = null));
    plainParent = parent;
  };
  return {
    ...walk,
    reach(path) {
      const parent = parentOf(path);
      if (parent === plainParent && mayTouch(path)) {
        const stat = isPlainName(path, parent) ? statUnlinked(path) : undefined;
        if (stat !== undefined) return { ok: true, path, stat };
      }
      const reached = walk.reach(path);
      if (reached.ok && reached.path === path) remember(parent);
      return reached;
    },
  };
}

function isPlainName(path: string, parent: string): boolean {
  const name = path.slice(parent.length + 1);
  return name !== '' && name !== '.' && name !== '..' && !name.includes('\ufffd');
}

/** undefined: nothing is there, or a link, or it cannot be looked at. */
function statUnlinked(path: string): BigIntStats | undefined {
  try {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stat?.isSymbolicLink() ? undefined : stat;
  } catch (error) {
    failureOf(error);
    return undefined;
  }
}
