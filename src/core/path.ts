declare const realPathBrand: unique symbol;
declare const fileUriBrand: unique symbol;

/** A canonical absolute path: links resolved by the kernel. Only disk/resolve.ts makes one; asRealPath() takes one over. */
export type RealPath = string & { readonly [realPathBrand]: true };

/**
 * For a path that crossed a process boundary and was a RealPath there, or that the kernel has just given back unchanged.
 * Nothing is looked at here: the caller knows whom it believes.
 */
export function asRealPath(text: string): RealPath {
  return text as RealPath;
}

/** A `file://` URI as we send it. Only toFileUri() makes one. */
export type FileUri = string & { readonly [fileUriBrand]: true };

/** The longest path the kernel takes (PATH_MAX without its NUL). */
export const MAX_PATH_BYTES = 4095;

/** Links on the way of one path that the kernel follows; at the next it says ELOOP. */
export const MAX_LINKS = 40;

/** The longest path of a Unix socket (`sun_path` without its NUL). Node cuts longer ones silently. */
export function maxSocketPathBytes(platform: string): number {
  return platform === 'darwin' ? 103 : 107;
}

/** Bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Why a text cannot be a path at all, or null. Checked before any system call: nothing is trimmed, decoded or folded. */
export function checkPathText(text: string): string | null {
  if (text === '') return 'is empty';
  if (!text.startsWith('/')) return 'is relative, must be absolute';
  if (text.includes('\0')) return 'holds a NUL character';
  if (!text.isWellFormed()) return 'holds a lone surrogate, which no file name can';
  return isTooLong(text) ? `is longer than ${MAX_PATH_BYTES} bytes` : null;
}

/** Counts bytes only where units leave it open: a unit is one to three bytes. */
function isTooLong(text: string): boolean {
  if (text.length * 3 <= MAX_PATH_BYTES) return false;
  return text.length > MAX_PATH_BYTES || byteLength(text) > MAX_PATH_BYTES;
}

/** The URI of a real path: every byte but unreserved ones and `/` percent-encoded, so that a round trip is exact. */
export function toFileUri(path: RealPath): FileUri {
  return `file://${encodeURIComponent(path)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, percentEncode)}` as FileUri;
}

export type ParsedFileUri = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly why: string };

/**
 * Reads a `file:` URI that somebody gave us; `why` goes on where "the URI" stops. The path is decoded once and not
 * resolved: dot segments stay, encoded ones too, since `..` is physical and only the kernel can walk it.
 */
export function parseFileUri(text: string): ParsedFileUri {
  const rawPath = text.replace(/^file:\/\/(localhost(?=\/|$))?/i, '');
  const fault = textFault(text) ?? (rawPath.startsWith('/') ? encodingFault(rawPath) : AUTHORITY_FAULT);
  if (fault !== null) return { ok: false, why: fault };
  const path = decodeURIComponent(rawPath);
  // A WHATWG parser sees drive letters where we see names: where it would read another path, one of its users would.
  if (whatwgPath(text) !== decodeURIComponent(withoutDotSegments(rawPath))) {
    return { ok: false, why: 'is read differently by other parsers' };
  }
  const pathFault = checkPathText(path);
  return pathFault === null ? { ok: true, path } : { ok: false, why: `names a path that ${pathFault}` };
}

const AUTHORITY_FAULT = 'names another host, must be "file:///…" or "file://localhost/…"';

/** What a URI parser would silently drop or turn into something else, found in the text itself. */
function textFault(text: string): string | null {
  if (!text.startsWith('file://')) return 'does not begin with "file://"';
  if (text.length > 3 * MAX_PATH_BYTES + 'file://localhost'.length) return 'is too long for any path';
  if (/\p{Cc}/u.test(text)) return 'holds a control character';
  if (!text.isWellFormed()) return 'holds a lone surrogate';
  if (text.includes('\\')) return 'holds a backslash';
  if (text.endsWith(' ')) return 'ends with a blank';
  if (text.includes('?')) return 'has a query';
  if (text.includes('#')) return 'has a fragment';
  return null;
}

function encodingFault(rawPath: string): string | null {
  if (/%(?![0-9a-f]{2})/i.test(rawPath)) return 'has a "%" that encodes nothing';
  if (/%2f/i.test(rawPath)) return 'has an encoded "/"';
  if (/%00/.test(rawPath)) return 'has an encoded NUL';
  try {
    decodeURIComponent(rawPath);
    return null;
  } catch {
    return 'encodes bytes that are not UTF-8';
  }
}

function whatwgPath(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.host === '' ? decodeURIComponent(url.pathname) : null;
}

/** What a URI parser makes of `.` and `..`, here only to see what else it does. */
function withoutDotSegments(rawPath: string): string {
  const kept: string[] = [];
  const segments = rawPath.slice(1).split('/');
  for (const [i, segment] of segments.entries()) {
    const dots = segment.replaceAll(/%2e/gi, '.');
    if (dots === '..') kept.pop();
    if (dots !== '..' && dots !== '.') kept.push(segment);
    else if (i === segments.length - 1) kept.push('');
  }
  return `/${kept.join('/')}`;
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The path of a name in a directory that is written without a last slash, `/` itself excepted. */
export function childOf(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

/** The last component; of `/` it is empty. `node:path` goes through it letter by letter. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The directory above; of `/` it is `/`. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
