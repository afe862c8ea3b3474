// What is written down where something is not as it was: layers, what is known of servers, roots, mounts.

import type { Problem } from '../core/errors.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import { patternPath } from '../core/pattern.ts';
import type { RootFacts } from '../core/place.ts';
import type { MountChange } from '../disk/mounts.ts';
import type { Log } from '../system/log.ts';
import type { KnownServers } from './known-servers.ts';
import { filesOf, type ReloadOutcome } from './layers.ts';

/** What became of each layer that is not as it was. */
export function recordLayers(record: Log, { moved, generation }: ReloadOutcome): void {
  for (const status of moved) {
    const { layer, condition, problems } = status;
    const fields = { layer, condition, generation, files: filesOf(status), problems: problems.map(brief) };
    if (condition === 'active' || condition === 'empty') record('info', LOG_EVENTS.activated, fields);
    else if (condition === 'lockdown') record('error', LOG_EVENTS.lockdown, fields);
    else record('warn', LOG_EVENTS.rejected, fields);
  }
}

/** What is known of servers has been read anew. */
export function recordServers(record: Log, { paths, problems }: KnownServers): void {
  if (problems.length === 0) record('info', LOG_EVENTS.catalogueRead, { files: paths });
  else record('warn', LOG_EVENTS.catalogueRejected, { problems: problems.map(brief) });
}

/** What became of each root on the disk, a step each that has changed: someone may have to act on one that is gone. */
export function* recordRoots(record: Log, before: readonly RootFacts[], after: readonly RootFacts[]): Generator<void> {
  const known = new Map(before.map((root) => [root.name, root]));
  for (const { name, written, place, available, unavailable } of after) {
    const was = known.get(name);
    if (was?.available === available && was.place?.identity === place?.identity) continue;
    const fields = { root: name, path: place?.path ?? patternPath(written), available, why: unavailable };
    record(available ? 'info' : 'warn', LOG_EVENTS.rootChanged, fields);
    yield;
  }
}

/** Mounts that have to do with a root. */
export function recordMounts(record: Log, changes: readonly MountChange[]): void {
  for (const { point, before, after } of changes) {
    const { type, isReadOnly } = after ?? before ?? {};
    record('info', LOG_EVENTS.mountChanged, { path: point, mounted: after !== null, type, isReadOnly });
  }
}

function brief({ code, file, line, column, message }: Problem): string {
  return `${file}:${line}:${column}: ${message} [${code}]`;
}
