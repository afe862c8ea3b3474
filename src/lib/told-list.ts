// What a client's answer to `roots/list` means for a server. It comes from another process: nothing in it is trusted to be
// well-formed, and whatever cannot be used grants nothing.

import { ACCESS_META, type Access, lowerAccess, NO_ACCESS } from '../core/access.ts';
import { shownText } from '../core/allowed-text.ts';
import { type Bounded, createBoundary, type Enclosures, narrowBoundary } from '../core/boundary.ts';
import { parseFileUri, type RealPath, toFileUri } from '../core/path.ts';
import { resolveRoot } from '../disk/judge.ts';
import { isObject } from './sdk.ts';

/** A directory (or file) that a server may use. */
export interface GuardedRoot {
  readonly uri: string;
  /** As the client calls it; else the last name of its path. */
  readonly name: string;
  /** Canonical. */
  readonly path: string;
  readonly access: Access;
}

/** What a server is held to until another list is told. */
export interface ToldList {
  readonly roots: readonly GuardedRoot[];
  readonly places: Enclosures;
  /** What may be done at a place that `places` encloses. */
  accessAt(root: RealPath): Access;
}

interface Entry extends Bounded {
  readonly name: string;
  readonly access: Access;
}

/**
 * Reads the result of `roots/list`; null: it is no list. `warn` hears of each entry that is left out. With `limits` only
 * what lies within them counts.
 */
export function readToldList(
  result: unknown,
  limits: readonly RealPath[] | null,
  warn: (sentence: string) => void,
): ToldList | null {
  const told = isObject(result) ? result.roots : undefined;
  if (!Array.isArray(told)) return null;
  const entries = told.flatMap((root: unknown) => readEntry(root, warn));
  return listOf(limits === null ? entries : narrowBoundary(entries, limits));
}

/** The list of a server whose own directories are all that it may use. */
export function ownList(directories: readonly RealPath[]): ToldList {
  return listOf(directories.map((path) => ({ path, name: lastName(path), access: 'read-write', carved: [] })));
}

function readEntry(root: unknown, warn: (sentence: string) => void): Entry[] {
  const { uri, name, _meta } = isObject(root) ? root : {};
  const access = accessOf(_meta);
  if (access === NO_ACCESS) return [];
  if (typeof uri !== 'string') {
    warn('The client lists a root without a URI: it is left out');
    return [];
  }
  const named = readName(uri);
  const resolved = named.ok ? resolveRoot(named.path) : named;
  if (!resolved.ok) {
    warn(`The client lists "${shownText(uri)}", which is left out: it ${resolved.why}`);
    return [];
  }
  const { path } = resolved;
  return [{ path, name: typeof name === 'string' ? name : lastName(path), access, carved: [] }];
}

/** Some clients list bare paths. */
function readName(uri: string): ReturnType<typeof parseFileUri> {
  return uri.startsWith('/') ? { ok: true, path: uri } : parseFileUri(uri);
}

/** MCP knows no access: whoever tells a root and says nothing means all of it. A word that we do not know is not all. */
function accessOf(meta: unknown): Access | typeof NO_ACCESS {
  const access = isObject(meta) ? meta[ACCESS_META] : undefined;
  if (access === NO_ACCESS) return NO_ACCESS;
  return access === undefined || access === 'read-write' ? 'read-write' : 'read-only';
}

/** A place that is told twice is told once, under its first name and with the lower access. */
function listOf(entries: readonly Entry[]): ToldList {
  const byPath = new Map<RealPath, GuardedRoot>();
  for (const { path, name, access } of entries) {
    const before = byPath.get(path);
    const lower = lowerAccess(before?.access, access) ?? access;
    byPath.set(path, { uri: toFileUri(path), name: before?.name ?? name, path, access: lower });
  }
  return {
    roots: [...byPath.values()],
    places: createBoundary(byPath.keys()),
    accessAt: (root) => byPath.get(root)?.access ?? 'read-only',
  };
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path;
}
