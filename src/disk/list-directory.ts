import { isUtf8 } from 'node:buffer';
import { type Dirent, opendirSync } from 'node:fs';
import { failureOf } from './failure.ts';

export interface DirectoryEntry {
  /** null: not UTF-8, no text can name it. */
  readonly name: string | null;
  readonly isDirectory: boolean;
  readonly isLink: boolean;
}

/**
 * The entries of a directory, as many as are asked for. One that cannot be listed, or not to its end, has no more; what is
 * returned says whether these are all.
 */
export function* listDirectory(path: string): Generator<DirectoryEntry, boolean> {
  try {
    // The type declarations know no names as bytes.
    const directory = opendirSync(path, { encoding: 'buffer' as BufferEncoding });
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) yield describe(entry);
    } finally {
      directory.closeSync();
    }
    return true;
  } catch (error) {
    failureOf(error);
    return false;
  }
}

function describe(entry: Dirent): DirectoryEntry {
  const bytes = Buffer.from(entry.name);
  const name = isUtf8(bytes) ? bytes.toString('utf8') : null;
  return { name, isDirectory: entry.isDirectory(), isLink: entry.isSymbolicLink() };
}
