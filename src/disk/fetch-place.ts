// Looks into places for others, never outside what they may see. Runs in the daemon where that returns at once, else in
// the helper process.
//
// INVARIANT: what is opened is what was judged. The canonical path is judged first; the object that is opened behind it
// must be the very inode that had that path, whatever was renamed or linked in between.

import {
  type BigIntStats,
  closeSync,
  constants,
  type Dir,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readSync,
} from 'node:fs';
import { type Bounded, createBoundary, type Enclosures, isCarved } from '../core/boundary.ts';
import type { EntryKind, ListedEntry } from '../core/listing.ts';
import type { RealPath } from '../core/path.ts';
import { sortInSteps } from '../core/sort-in-steps.ts';
import { errnoFailure, type Failure, failure, failureOf } from './failure.ts';
import type { KernelWalk, Reached } from './kernel-walk.ts';

export interface FetchRequest {
  /** Absolute, of somebody else. */
  readonly path: string;
  /** Nothing else is looked into, or told apart from what does not exist. */
  readonly bounds: readonly Bounded[];
  /** `look`: only what it is; `entries`: and all those of a directory; `all`: or its first ones, or the content of a file. */
  readonly want: 'look' | 'entries' | 'all';
  /** Of a file; a larger one is not read. */
  readonly maxBytes: number;
  /** Of a directory where `all` is wanted. */
  readonly maxEntries: number;
}

export interface FetchedPlace {
  readonly ok: true;
  readonly path: RealPath;
  readonly kind: EntryKind;
  readonly size: number;
  /** Another text after every change of a file, and of the names in a directory. */
  readonly signature: string;
  /** Of a directory whose entries are wanted: all of them in no order, or the first ones by name. */
  readonly entries: readonly ListedEntry[] | null;
  /** How many entries there are, where they are wanted. */
  readonly total: number;
  /** Of a file whose content is wanted and is not too large. */
  readonly base64: string | null;
}

export type Fetched = FetchedPlace | Failure;

/** Says the same of what lies outside, of what is missing and of what may not be seen. */
const NOTHING_THERE = errnoFailure('ENOENT');
const MAX_TRIES = 3;
/** So many entries are looked at in one step; a link is followed, and is one by itself. */
const STEP = 64;
/** Entries that are taken from the kernel at once: the default of 32 costs a call for each few names. */
const READ_AHEAD = 1_024;

/** Fetches one place, a few entries a step. */
export function* fetchPlace(request: FetchRequest, walk: KernelWalk): Generator<void, Fetched> {
  const sight: Sight = {
    boundary: createBoundary(request.bounds.map(({ path }) => path)),
    carved: request.bounds.flatMap(({ carved }) => carved),
    walk,
  };
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const fetched = yield* fetchOnce(request, sight);
    if (fetched !== 'moved') return fetched;
  }
  return failure('changes faster than it can be looked at', 'EAGAIN');
}

/** What may be seen, and how it is looked at. */
interface Sight {
  readonly boundary: Enclosures;
  readonly carved: readonly string[];
  readonly walk: KernelWalk;
}

function* fetchOnce(request: FetchRequest, sight: Sight): Generator<void, Fetched | 'moved'> {
  const reached = sight.walk.reach(request.path);
  if (!reached.ok) return reached.slow === undefined ? NOTHING_THERE : reached;
  const kind = visibleKind(reached, sight);
  if (kind === null) return NOTHING_THERE;
  const { stat } = reached;
  const found: FetchedPlace = {
    ok: true,
    path: reached.path as RealPath,
    kind,
    size: Number(stat.size),
    signature: signatureOf(stat),
    entries: null,
    total: 0,
    base64: null,
  };
  const { want, maxBytes, maxEntries } = request;
  const isWanted = kind === 'directory' ? want !== 'look' : want === 'all' && found.size <= maxBytes;
  if (!isWanted) return found;
  const looked = yield* lookInto(found, stat, { ...sight, maxBytes });
  if (looked === 'moved' || !looked.ok || looked.entries === null) return looked;
  const { entries } = looked;
  return { ...looked, total: entries.length, entries: want === 'all' ? yield* firstOf(entries, maxEntries) : entries };
}

function* lookInto(
  found: FetchedPlace,
  stat: BigIntStats,
  sight: Sight & { readonly maxBytes: number },
): Generator<void, Fetched | 'moved'> {
  const { path, kind } = found;
  try {
    // Where another file has taken its place it may be a pipe: that must not block.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!isSame(fstatSync(fd, { bigint: true }), stat)) return 'moved';
      if (kind === 'file') return { ...found, base64: readUpTo(fd, sight.maxBytes)?.toString('base64') ?? null };
      return { ...found, entries: yield* listEntries(fd, path, sight) };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const { errno } = failureOf(error);
    // Gone, or a link by now.
    return errno === 'ENOENT' || errno === 'ELOOP' ? 'moved' : NOTHING_THERE;
  }
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

/** null: it grows, and is too large by now. */
function readUpTo(fd: number, maxBytes: number): Buffer | null {
  const buffer = Buffer.allocUnsafe(maxBytes + 1);
  let length = 0;
  for (let count = -1; count !== 0 && length < buffer.length; length += count) {
    count = readSync(fd, buffer, length, buffer.length - length, null);
  }
  return length > maxBytes ? null : buffer.subarray(0, length);
}

function* listEntries(fd: number, path: RealPath, sight: Sight): Generator<void, ListedEntry[]> {
  const entries: ListedEntry[] = [];
  const directory = openListing(fd, path);
  const base = path === '/' ? '' : path;
  let looked = 0;
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      const kind = kindOf(entry, `${base}/${entry.name}` as RealPath, sight);
      if (kind !== null) entries.push({ name: entry.name, kind });
      looked += 1;
      if (looked % STEP === 0 || entry.isSymbolicLink()) yield;
    }
  } finally {
    directory.closeSync();
  }
  return entries;
}

/** The first ones by name. */
function* firstOf(entries: readonly ListedEntry[], count: number): Generator<void, readonly ListedEntry[]> {
  const sorted = yield* sortInSteps(entries, (a, b) => (a.name < b.name ? -1 : 1));
  return sorted.slice(0, count);
}

/** By the descriptor where the system has names for those: then it is the directory that was judged. */
function openListing(fd: number, path: RealPath): Dir {
  return opendirSync(process.platform === 'linux' ? `/proc/self/fd/${fd}` : path, { bufferSize: READ_AHEAD });
}

/** null: neither a directory nor a file, or not to be seen. */
function kindOf(entry: Dirent, path: RealPath, sight: Sight): EntryKind | null {
  if (entry.name.includes('\ufffd') && !isText(path)) return null;
  if (sight.carved.length > 0 && isCarved(path, sight.carved)) return null;
  if (entry.isDirectory()) return 'directory';
  if (entry.isFile()) return 'file';
  if (!entry.isSymbolicLink()) return null;
  const reached = sight.walk.reach(path);
  return reached.ok ? visibleKind(reached, sight) : null;
}

/** Bytes that are no text read as this character, and nobody can name them; a name may also really hold it. */
function isText(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function visibleKind({ path, stat }: Reached, { boundary, carved }: Sight): EntryKind | null {
  const place = path as RealPath;
  if (boundary.enclosing(place) === undefined || isCarved(place, carved)) return null;
  if (stat.isDirectory()) return 'directory';
  return stat.isFile() ? 'file' : null;
}

function signatureOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}
