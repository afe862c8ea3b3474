// Which strings of a call name places: by the property that they stand in, and by how they begin.

import { posix } from 'node:path';
import { parseFileUri } from '../../core/path.ts';
import { foldName, namesPath, namesText } from './path-names.ts';
import { type Applicable, arePaths, type SchemaPaths } from './schema-paths.ts';

/** What the guard knows of the server beforehand. */
export interface Reading {
  /** Every value that looks like a path is one. */
  readonly strict: boolean;
  /** Names of properties that hold paths, folded, from policy and catalogue: they count before all other rules. */
  readonly pathNames: ReadonlySet<string>;
  /** What the schema of the tool says of them. */
  readonly schema: SchemaPaths;
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

/** The parameter of a call that the tool's schema is about. */
const ARGUMENTS = 'arguments';

interface Standing {
  readonly property: string;
  readonly value: unknown;
  /** What the tool's schema says of the value, where names do not tell. */
  readonly schemas: Applicable;
}

/** All that a value names, at any depth. Elements of an array stand in the array's property. */
export function* namedPaths(value: unknown, reading: Reading, property = ''): Generator<NamedPath> {
  const { schema } = reading;
  const ahead: Standing[] = [{ property, value, schemas: foldName(property) === ARGUMENTS ? schema.whole : [] }];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { property, value, schemas } = next;
    if (typeof value === 'string') {
      const named = readString(next, value, reading);
      if (named !== null) yield named;
    } else if (Array.isArray(value)) {
      const inner = schema.elements(schemas);
      for (const element of value.toReversed()) ahead.push({ property, value: element, schemas: inner });
    } else if (typeof value === 'object' && value !== null) {
      const ofNames = schema.memberNames(schemas);
      for (const [name, member] of Object.entries(value).reverse()) {
        ahead.push({ property: name, value: member, schemas: schema.member(schemas, name) });
        // `{"files": {"/etc/x": …}}`: a name can be a path as well.
        const isPath = arePaths(ofNames) || NAMES_BY_ITSELF.test(bareText(name).replaceAll(/\p{Cc}/gu, ''));
        if (isPath) ahead.push({ property, value: name, schemas: ofNames });
      }
    }
  }
}

/** Is the value of a property never a path, whatever it looks like? `pathNames`: of a Reading. */
export function isText(property: string, pathNames: ReadonlySet<string>): boolean {
  return namesText(property) && !pathNames.has(foldName(property));
}

/** What one string names, or null where it names no place. */
function readString({ property, schemas }: Standing, value: string, reading: Reading): NamedPath | null {
  const isDeclared = reading.pathNames.has(foldName(property));
  if (isText(property, reading.pathNames)) return null;
  const isSchemaPath = reading.schema.names.has(foldName(property)) || arePaths(schemas);
  const isPath = isDeclared || isSchemaPath || namesPath(property);
  const context = { isPath, isUri: /uris?$/i.test(property), reading };
  const bare = bareText(value);
  const candidates = CONTROL.test(bare)
    ? brokenCandidates(bare, { ...context, isDeclared: isDeclared || isSchemaPath })
    : candidatesOf(value, bare, context);
  return candidates?.length === 0 ? null : { property, value, candidates };
}

/** Servers cut blanks and quotes away. Not by one expression: that would begin anew at each of a million blanks within. */
function bareText(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && OPENING.test(value.charAt(start))) start += 1;
  while (end > start && CLOSING.test(value.charAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

/**
 * Python takes some control characters for blanks, and parsers of URIs all that stand before one. They are written out: for
 * the first `\p{}` of a process tables are loaded, when the expression is made.
 */
const OPENING = /[\s\0-\x1f\x7f-\x9f"'`<]/;
const CLOSING = /[\s\0-\x1f\x7f-\x9f"'`>]/;
const CONTROL = /[\0-\x1f\x7f-\x9f]/;

interface Context {
  readonly isPath: boolean;
  readonly isUri: boolean;
  readonly reading: Reading;
}

/** A path with a line break or another control character within is not one that all read alike; most such texts are none. */
function brokenCandidates(
  bare: string,
  { isDeclared, ...context }: Context & { readonly isDeclared: boolean },
): readonly string[] | null {
  const text = bare.replaceAll(/\p{Cc}/gu, '');
  if (isDeclared) return null;
  if (context.isPath && (NAMES_BY_ITSELF.test(text) || [bare, text].some(climbs))) return null;
  // Parsers of URIs drop these wherever they stand.
  const uri = bare.replaceAll(/[\t\n\r]/g, '');
  // "File: x" is how a text begins.
  if (FILE_URI.test(uri)) return /^file: /i.test(uri) ? [] : uriPaths(uri);
  if (/[\n\r]/.test(bare)) return [];
  return candidatesOf(bare, bare, context);
}

const FILE_URI = /^file:/i;

function uriPaths(uri: string): readonly string[] | null {
  const parsed = parseFileUri(uri);
  return parsed.ok ? withPlain([parsed.path]) : null;
}

/** Of a list of paths in one text each part counts, and the text as a whole. */
function candidatesOf(value: string, bare: string, context: Context): readonly string[] | null {
  const all = new Set<string>();
  for (const [i, text] of [bare, ...partsOf(bare, context)].entries()) {
    const paths = pathsOf(i === 0 ? value : text, text, context);
    if (paths === null) return null;
    for (const path of paths) all.add(path);
  }
  return [...all];
}

function pathsOf(value: string, bare: string, { isPath, reading }: Context): readonly string[] | null {
  if (FILE_URI.test(bare)) return uriPaths(bare);
  if (!isPath && !reading.strict) return [];
  if (bare.startsWith('/')) return withPlain(value.startsWith('/') ? [value, bare] : [bare]);
  if (bare.startsWith('~')) return homePaths(bare, reading);
  const isMarked = reading.strict && /^\.\.?(?:\/|$)/.test(bare);
  if (SCHEME.test(bare)) return climbs(bare) ? [posix.join(reading.cwd, bare)] : [];
  if (bare === '' || !(isPath || isMarked)) return [];
  if (!(climbs(bare) || isMarked || reading.relativePaths === 'cwd')) return [];
  return withPlain([value, bare].map((path) => `${reading.cwd}/${path}`));
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const URL_START = /^(?!file:)[a-z][a-z0-9+.-]*:\/\//i;

function climbs(text: string): boolean {
  return text.split('/').includes('..');
}

/**
 * The parts of a list of paths; none where the text is no list. A new part begins only with what names a place by itself: a
 * name may hold a comma.
 */
function partsOf(bare: string, { isPath, isUri, reading }: Context): readonly string[] {
  if (!isPath && !(reading.strict && bare.startsWith('/'))) return [];
  if (URL_START.test(bare) || (isUri && SCHEME.test(bare) && !FILE_URI.test(bare))) return [];
  const parts: string[] = [];
  let separator = '';
  for (const [i, piece] of bare.split(SEPARATOR).entries()) {
    if (i % 2 === 1) separator = piece;
    else if (i === 0 || NAMES_BY_ITSELF.test(bareText(piece)) || climbs(bareText(piece))) parts.push(piece);
    else parts.push(`${parts.pop()}${separator}${piece}`);
  }
  return parts.length === 1 ? [] : parts.map(bareText);
}

const NAMES_BY_ITSELF = /^(?:[/~]|file:)/i;
/** The colon of a file URI is none. */
const SEPARATOR = /([,;]|(?<!(?:^|[\s,;:"'`<])file):)/i;

/** `~` and `~/x` below each home. `~name` is the home of somebody, whose we do not look up; `~$x` is a file. */
function homePaths(bare: string, { homes, relativePaths, cwd }: Reading): readonly string[] | null {
  if (/^~[a-z_][\w.-]*(?:\/|$)/i.test(bare)) return null;
  const isResolved = relativePaths === 'cwd' || climbs(bare);
  const literal = isResolved ? [`${cwd}/${bare}`] : [];
  return withPlain(/^~(?:\/|$)/.test(bare) ? [...homes.map((home) => home + bare.slice(1)), ...literal] : literal);
}

/** `..` behind a link means one place to the kernel and another to who cancels it by text, as many servers do first. */
function withPlain(paths: readonly string[]): readonly string[] {
  const climbing = paths.filter(climbs);
  return [...new Set([...paths, ...climbing.map((path) => posix.normalize(path))])];
}
