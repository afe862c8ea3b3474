// Which strings of a call name places: by the property that they stand in, and by how they begin.

import { posix } from 'node:path';
import { parseFileUri } from '../../core/path.ts';
import { foldName, namesPath, namesText } from './path-names.ts';

/** What the guard knows of the server beforehand. */
export interface Reading {
  /** Every value that looks like a path is one. */
  readonly strict: boolean;
  /** Names of properties that hold paths, folded, from policy and catalogue: they count before all other rules. */
  readonly pathNames: ReadonlySet<string>;
  /** The same, from the schema of the tool. */
  readonly schemaNames: ReadonlySet<string>;
  /** `cwd`: the server resolves relative paths against its working directory. */
  readonly relativePaths: 'cwd' | 'pass';
  readonly cwd: string;
  /** What `~` may mean to the server. */
  readonly homes: readonly string[];
}

export interface NamedPath {
  readonly property: string;
  /** As it stands in the message. */
  readonly value: string;
  /** Absolute paths that it may mean, each of which counts; null: what it means cannot be told. */
  readonly candidates: readonly string[] | null;
}

/** All that a value names, at any depth. Elements of an array stand in the array's property. */
export function* namedPaths(value: unknown, reading: Reading, property = ''): Generator<NamedPath> {
  const ahead: { readonly property: string; readonly value: unknown }[] = [{ property, value }];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { property, value } = next;
    if (typeof value === 'string') {
      const named = readString(property, value, reading);
      if (named !== null) yield named;
    } else if (Array.isArray(value)) {
      for (const element of value.toReversed()) ahead.push({ property, value: element });
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value).reverse()) {
        ahead.push({ property: name, value: member });
        // `{"files": {"/etc/x": …}}`: a name can be a path as well.
        if (/^(?:[/~]|file:)/i.test(name)) ahead.push({ property, value: name });
      }
    }
  }
}

/** What one string names, or null where it names no place. */
function readString(property: string, value: string, reading: Reading): NamedPath | null {
  const isDeclared = reading.pathNames.has(foldName(property));
  if (!isDeclared && namesText(property)) return null;
  const bare = bareText(value);
  if (/[\n\r]/.test(bare)) return null;
  if (/^file:/i.test(bare)) {
    const parsed = parseFileUri(bare);
    return { property, value, candidates: parsed.ok ? withPlain([parsed.path]) : null };
  }
  const isPath = isDeclared || namesPath(property) || reading.schemaNames.has(foldName(property));
  const candidates = candidatesOf(value, bare, { isPath, reading });
  return candidates?.length === 0 ? null : { property, value, candidates };
}

/** Servers cut blanks and quotes away. Not by one expression: that would begin anew at each of a million blanks within. */
function bareText(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && OPENING.test(value.charAt(start))) start += 1;
  while (end > start && CLOSING.test(value.charAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

const OPENING = /[\s"'`<]/;
const CLOSING = /[\s"'`>]/;

interface Context {
  readonly isPath: boolean;
  readonly reading: Reading;
}

function candidatesOf(value: string, bare: string, { isPath, reading }: Context): readonly string[] | null {
  if (!isPath && !reading.strict) return [];
  if (bare.startsWith('/')) return withPlain(value.startsWith('/') ? [value, ...partsOf(bare)] : partsOf(bare));
  if (bare.startsWith('~')) return homePaths(bare, reading);
  const isMarked = reading.strict && /^\.\.?(?:\/|$)/.test(bare);
  const climbs = bare.split('/').includes('..');
  if (SCHEME.test(bare)) return climbs ? [posix.join(reading.cwd, bare)] : [];
  if (bare === '' || !(isPath || isMarked)) return [];
  if (!(climbs || isMarked || reading.relativePaths === 'cwd')) return [];
  return withPlain([value, bare].map((path) => `${reading.cwd}/${path}`));
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** The value, and the paths in it where it is a list of some. */
function partsOf(bare: string): readonly string[] {
  const parts = bare.split(/[,;:](?=\s*\/)/).map((part) => part.trim());
  return parts.length === 1 ? parts : [bare, ...parts];
}

/** `~` and `~/x` below each home. `~name` is the home of somebody, whose we do not look up; `~$x` is a file. */
function homePaths(bare: string, { homes, relativePaths, cwd }: Reading): readonly string[] | null {
  if (/^~[a-z_][\w.-]*(?:\/|$)/i.test(bare)) return null;
  const isResolved = relativePaths === 'cwd' || bare.split('/').includes('..');
  const literal = isResolved ? [`${cwd}/${bare}`] : [];
  return withPlain(/^~(?:\/|$)/.test(bare) ? [...homes.map((home) => home + bare.slice(1)), ...literal] : literal);
}

/** `..` behind a link means one place to the kernel and another to who cancels it by text, as many servers do first. */
function withPlain(paths: readonly string[]): readonly string[] {
  const climbing = paths.filter((path) => path.split('/').includes('..'));
  return [...new Set([...paths, ...climbing.map((path) => posix.normalize(path))])];
}
