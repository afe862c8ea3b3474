// What a watched place looks like, in one string: if two looks give the same string, a read gives the same texts and the
// same trust. Names, through links, identity, size, times in nanoseconds (whole seconds miss edits), modes and owners;
// of the directories above modes and owners, since trust asks for them.

import { type BigIntStats, type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runAtOnce } from '../core/steps.ts';

export interface WatchedPlace {
  readonly path: string;
  readonly kind: 'directory' | 'file';
}

export interface Signature {
  readonly text: string;
  /** What watches hang on: when it differs, they must be made anew. */
  readonly anchors: string;
}

interface Look {
  readonly lines: string[];
  readonly anchors: string[];
  /** Every directory above something looked at, once. */
  readonly above: Map<string, string>;
}

/** Looks at a place. Never throws: what cannot be looked at is a part of the signature. */
export function signatureOf(place: WatchedPlace): Signature {
  return runAtOnce(signatureInSteps(place));
}

/** The same, one entry a step. It is of no one moment then: what changes on the way, the next one tells. */
export function* signatureInSteps({ path, kind }: WatchedPlace): Generator<void, Signature> {
  const look: Look = { lines: [], anchors: [], above: new Map() };
  const parent = nearestExisting(dirname(path));
  look.anchors.push(parent, directoryLine(parent), lookThrough(look, path));
  if (kind === 'file') look.lines.push(entryLine(path));
  else {
    look.anchors.push(directoryLine(path));
    look.lines.push(directoryLine(path));
    yield* lookAtEntries(look, path);
  }
  const text = [...look.lines, ...look.above.values()].join('\n');
  return { text, anchors: look.anchors.join('\n') };
}

/** The deepest directory at or above `path` that is there: a watch on it sees the rest appear. */
export function nearestExisting(path: string): string {
  let at = path;
  while (at !== '/' && !statOrCode(at).isDirectory) at = dirname(at);
  return at;
}

/** Dot names are never policies. The `..data` of a mounted configuration is seen through the links that lead over it. */
function* lookAtEntries(look: Look, directory: string): Generator<void> {
  for (const entry of readEntries(look, directory)) {
    if (entry.name.startsWith('.')) continue;
    const path = join(directory, entry.name);
    look.lines.push(`${JSON.stringify(entry.name)} ${entryLine(path)}`);
    if (entry.isSymbolicLink()) look.anchors.push(lookThrough(look, path));
    yield;
  }
}

function readEntries(look: Look, directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    look.lines.push(codeOf(error));
    return [];
  }
}

/** Notes where a path leads, and the directories above the place it leads to. Returns that place, or an error's code. */
function lookThrough(look: Look, path: string): string {
  const real = realPathOrCode(path);
  look.lines.push(real);
  for (let at = real; at.startsWith('/') && at !== '/'; ) {
    at = dirname(at);
    if (look.above.has(at)) break;
    look.above.set(at, directoryLine(at));
  }
  return real;
}

function realPathOrCode(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    return codeOf(error);
  }
}

/**
 * Of a directory no size and no other times than that of its birth: they change with every entry, also with those that
 * are no policies. Birth tells it from one that was removed: filesystems give its number to the next at once.
 */
function directoryLine(path: string): string {
  const { stats, code } = statOrCode(path);
  return stats === undefined
    ? code
    : [stats.dev, stats.ino, stats.birthtimeNs, stats.mode, stats.uid, stats.gid].join(':');
}

function entryLine(path: string): string {
  const { stats, isDirectory } = statOrCode(path);
  if (stats === undefined || isDirectory) return directoryLine(path);
  return [directoryLine(path), stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
}

interface StatOrCode {
  readonly stats?: BigIntStats;
  readonly isDirectory: boolean;
  readonly code: string;
}

function statOrCode(path: string): StatOrCode {
  try {
    const stats = statSync(path, { bigint: true });
    return { stats, isDirectory: stats.isDirectory(), code: '' };
  } catch (error) {
    return { isDirectory: false, code: codeOf(error) };
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}
