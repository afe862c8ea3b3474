// Paths as values of the variable of `file:///{+path}`: without the leading slash, every byte but unreserved ones and `/`
// percent-encoded, a directory with a last slash.

import { checkPathText, type RealPath, toFileUri } from './path.ts';

/** `kind`: a directory's value ends with a slash. */
export function toPathValue(path: string, kind: 'directory' | 'file'): string {
  const value = toFileUri(path as RealPath).slice('file:///'.length);
  return kind === 'file' || value === '' ? value : `${value}/`;
}

export interface TypedPath {
  /** The directory that is written out, absolute, without a last slash but for `/`. */
  readonly directory: string;
  /** What has been typed of a name in it. */
  readonly name: string;
}

/**
 * Reads what somebody has typed of such a value. What stands for itself counts as that; a character whose last bytes are
 * still to be typed is left out. null: no path will ever begin so.
 */
export function readPathValue(typed: string): TypedPath | null {
  const text = decode(typed.replace(/^\//, ''));
  if (text === null) return null;
  return splitTyped(`/${text}`);
}

/** The same of a path that is not encoded. */
export function splitTyped(path: string): TypedPath | null {
  if (checkPathText(path) !== null) return null;
  const end = path.lastIndexOf('/');
  const directory = path.slice(0, end);
  // `..` is for the kernel to walk, and an empty name is none: neither is ever offered, so nothing can follow it.
  if (
    directory
      .split('/')
      .slice(1)
      .some((part) => part === '' || part === '.' || part === '..')
  )
    return null;
  return { directory: directory === '' ? '/' : directory, name: path.slice(end + 1) };
}

function decode(value: string): string | null {
  if (/%2f|%00/i.test(value)) return null;
  const whole = value.replace(/%[0-9a-f]?$/i, '');
  for (const text of [whole, ...withoutLastEscapes(whole)]) {
    try {
      return decodeURIComponent(text);
    } catch {
      // The last character may be half typed.
    }
  }
  return null;
}

/** Without one, two and three escapes at the end: a character has at most four. */
function withoutLastEscapes(text: string): readonly string[] {
  return [1, 2, 3].map((count) => text.replace(new RegExp(`(?:%[0-9a-f]{2}){${count}}$`, 'i'), ''));
}
