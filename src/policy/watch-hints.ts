// Hints that something may have changed, from the kernel. They only say "look again" and may be late, doubled or missing:
// the sweep of watch-policies.ts is the truth. The only user of chokidar.

import { type FSWatcher, watch as watchWithNode } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { watch as watchWithChokidar } from 'chokidar';
import { nearestExisting, type WatchedPlace } from './watch-signature.ts';

export interface Hints {
  close(): void;
}

export interface HintHandlers {
  readonly onHint: () => void;
  /** A watch could not be made, or has ended. */
  readonly onError: (error: Error) => void;
}

export type OpenHints = (place: WatchedPlace, handlers: HintHandlers) => Hints;

/**
 * Watches a place and the way to it: the parent too, since a watch on a directory ends with the directory and says
 * nothing when a new one takes its name; where the parent is missing, the deepest directory above it that is there.
 */
export const openHints: OpenHints = (place, handlers) => {
  const parent = watchParent(place.path, handlers);
  const entries = place.kind === 'directory' ? watchEntries(place.path, handlers) : undefined;
  return {
    close() {
      parent?.close();
      entries?.close();
    },
  };
};

function watchParent(path: string, { onHint, onError }: HintHandlers): FSWatcher | undefined {
  const parent = nearestExisting(dirname(path));
  const [child] = relative(parent, path).split('/');
  try {
    const watcher = watchWithNode(parent, (_event, name) => {
      // Without a name, or with the parent's own: something became of the parent itself.
      if (name === null || name === child || name === basename(parent)) onHint();
    });
    watcher.on('error', onError);
    return watcher;
  } catch (error) {
    onError(error as Error);
    return undefined;
  }
}

/** chokidar follows links: an edit of the file behind a link is seen, which a watch on the directory does not see. */
function watchEntries(directory: string, { onHint, onError }: HintHandlers): Hints {
  const watcher = watchWithChokidar(directory, {
    depth: 0,
    ignoreInitial: true,
    ignorePermissionErrors: true,
    ignored: (path) => path !== directory && basename(path).startsWith('.'),
  });
  // `ready`: what happened while the watches were made is not reported otherwise.
  watcher.on('all', onHint).on('ready', onHint);
  watcher.on('error', (error) => onError(error as Error));
  return {
    close() {
      void watcher.close();
      // close() takes all listeners away; an error that comes after it would end the process.
      watcher.on('error', () => undefined);
    },
  };
}
