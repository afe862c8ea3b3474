import { LOG_EVENTS } from '../core/log-event.ts';
import { MountTable, type MountTableOptions } from '../disk/mounts.ts';
import { SlowMounts } from '../disk/slow-mounts.ts';
import type { Log } from '../system/log.ts';

/**
 * Says of each directory of our own that lies on a mount that may hang: it is read and written by the daemon itself, which
 * waits as long as the mount does.
 */
export function noticeSlowPlaces(directories: readonly string[], log: Log, options: MountTableOptions = {}): void {
  const mounts = new MountTable(options);
  try {
    const slow = new SlowMounts(mounts);
    for (const directory of new Set(directories)) {
      const mount = slow.onTheWay(directory);
      if (mount !== null) log('warn', LOG_EVENTS.slowPlace, { path: directory, mount: mount.point, type: mount.type });
    }
  } finally {
    mounts.close();
  }
}
