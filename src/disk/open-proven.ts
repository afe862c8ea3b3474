// Opening what was resolved, so that a path that is swapped after it was judged is not followed.
//
// The directory is opened first and asked where it is: only the very path that was judged will do. What lies in it is then
// opened through that descriptor, by its name and without following a link. A directory that is moved or exchanged later
// changes nothing any more. Without /proc (macOS) it is looked at again after the opening: that narrows the race, no more.

import { type BigIntStats, closeSync, constants, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { RealPath } from '../core/path.ts';

/** See kernel-walk.ts. */
const O_PATH = 0o10000000;
/** Whoever exchanges a directory must do so at the right moment of each. */
const LOOKS = 4;
/** No link is followed, and a pipe that somebody put there holds up nobody. */
const UNFOLLOWED = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** How to open, as open(2) has it. */
export interface OpenMode {
  readonly flags: number;
  /** Of a file that is made. */
  readonly mode?: number;
}

/**
 * Opens what lies at a resolved path. `moved`: the way there is another one now. Rejects as `node:fs` does where the system
 * refuses.
 */
export async function openProven(path: RealPath, how: OpenMode): Promise<FileHandle | 'moved'> {
  return process.platform === 'linux' ? openBelow(path, how) : openCompared(path, how);
}

async function openBelow(path: RealPath, how: OpenMode): Promise<FileHandle | 'moved'> {
  const directory = dirname(path);
  const fd = openDirectory(directory);
  if (fd === 'moved') return 'moved';
  try {
    const here = `/proc/self/fd/${fd}`;
    if (readlinkSync(here) !== directory) return 'moved';
    return await openByName(`${here}/${basename(path)}`, path, how);
  } finally {
    closeSync(fd);
  }
}

function openDirectory(directory: string): number | 'moved' {
  try {
    return openSync(directory, O_PATH | constants.O_DIRECTORY);
  } catch (error) {
    if (isErrno(error, 'ENOTDIR', 'ELOOP')) return 'moved';
    throw error;
  }
}

async function openByName(opened: string, path: string, { flags, mode }: OpenMode): Promise<FileHandle | 'moved'> {
  try {
    return await open(opened, flags | UNFOLLOWED, mode);
  } catch (error) {
    if (isErrno(error, 'ELOOP', 'ENOTDIR')) return 'moved';
    throw asOpened(error, path);
  }
}

/**
 * For systems without /proc: the way is looked at before, and several times after. A file is emptied only when each look says
 * that it is the one; in the moment between, one may still be made where the way leads by then.
 */
export async function openCompared(path: RealPath, { flags, mode }: OpenMode): Promise<FileHandle | 'moved'> {
  if (!isReal(dirname(path))) return 'moved';
  const kept = flags & ~constants.O_TRUNC;
  const handle = await openByName(path, path, mode === undefined ? { flags: kept } : { flags: kept, mode });
  if (handle === 'moved') return 'moved';
  if (!isSame(path, await handle.stat({ bigint: true }))) {
    await handle.close();
    return 'moved';
  }
  if (flags !== kept) await handle.truncate();
  return handle;
}

/** Is the path of a directory still its canonical one? Where it is missing, opening will say so. */
function isReal(directory: string): boolean {
  try {
    return realpathSync.native(directory) === directory;
  } catch (error) {
    return !isErrno(error, 'ENOTDIR', 'ELOOP');
  }
}

/**
 * Does the path lead to this file, and to it by itself? One look can meet the way as it leads outside and the next one as it
 * does not: each of several must say so.
 */
function isSame(path: RealPath, { dev, ino }: BigIntStats): boolean {
  try {
    for (let looks = 0; looks < LOOKS; looks++) {
      const found = lstatSync(path, { bigint: true });
      if (realpathSync.native(path) !== path || found.dev !== dev || found.ino !== ino) return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** The error as it would be had the path been opened by its name: nobody knows the number of our descriptor. */
function asOpened(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('path' in error) || typeof error.path !== 'string') return error;
  const message = error.message.replace(error.path, () => path);
  return Object.assign(error, { message, path });
}

function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
