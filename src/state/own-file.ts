// A file of ours in a private directory, opened in a way that nobody can misuse: no link is followed, no pipe blocks.

import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { RootsError } from '../core/errors.ts';
import { checkPrivateDirectory, type Owner } from '../disk/private-directory.ts';

/** No controlling terminal, no waiting for the other end of a pipe, no link as the last part of the path. */
const SAFELY = constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** More than the largest policies can have; a file of this size is damaged. */
export const MAX_OWN_BYTES = 64 * 1024 * 1024;

/**
 * The text of a file of ours, or null where there is none. Throws a RootsError `STATE_REFUSED` where others could have
 * written it, `DIRECTORY_UNSAFE` where its directory could be swapped, else the operating system's error.
 */
export async function readOwnFile(path: string, owner: Owner): Promise<string | null> {
  const handle = await openOrNull(path);
  if (handle === null) return null;
  try {
    const stats = await handle.stat();
    checkOwnFile(path, stats, owner);
    checkPrivateDirectory(dirname(path), owner);
    if (stats.size > MAX_OWN_BYTES) throw refused(path, `it has ${stats.size} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile());
  } finally {
    await handle.close();
  }
}

/** Throws a RootsError `STATE_REFUSED` unless it is a regular file of ours (or root's) that only its owner can write. */
export function checkOwnFile(path: string, stats: Stats, { uid }: Owner): void {
  if (!stats.isFile()) throw refused(path, 'it is not a regular file');
  if (stats.uid !== uid && stats.uid !== 0) throw refused(path, `it belongs to uid ${stats.uid}`);
  if ((stats.mode & 0o022) !== 0) throw refused(path, 'others can write it');
}

/** Says why a file of ours is not used. */
export function refused(path: string, what: string): RootsError {
  return new RootsError('STATE_REFUSED', { path, what });
}

async function openOrNull(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_RDONLY | SAFELY);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') throw refused(path, 'it is a link');
    throw error;
  }
}
