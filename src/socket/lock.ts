// One daemon for one runtime directory. The lock lies in the directory itself, so it is the same under every name that
// the directory has. The kernel lets go of it when its holder ends, however that ends.

import { closeSync, constants, ftruncateSync, openSync, readFileSync, realpathSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { RootsError } from '../core/errors.ts';
import { ownUid } from '../disk/account.ts';
import type { Native } from '../disk/native.ts';
import { makePrivateDirectory } from '../disk/private-directory.ts';
import { removeDeadSockets } from './dead-sockets.ts';
import { tryLockByProgram } from './lock-program.ts';
import { takeLockSocket } from './lock-socket.ts';

export interface Lock {
  /** Canonical. */
  readonly directory: string;
  /** Can be called again. */
  close(): void;
}

const OPEN_LOCK = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
/** The winner writes its number right after it has won. */
const OWNER_TRIES = 20;
const OWNER_PAUSE_MS = 25;
const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** Takes a flock on an open file without waiting; false: another has it; null: there is no way to take one here. */
export type TryLock = (fd: number) => boolean | null;

/** By the native layer, else by a program. */
export function lockBy(native: Native | null): TryLock {
  return native === null ? tryLockByProgram : (fd) => native.tryLock(fd);
}

/**
 * Takes the lock of a runtime directory, which is made where it is missing. Throws a RootsError: `DAEMON_RUNNING`, which
 * says who has it, or `DIRECTORY_UNSAFE`. Where nothing can take a flock a socket stands for the lock. Sockets that a start
 * which was killed has left there are removed.
 */
export async function acquireLock(directory: string, tryLock: TryLock): Promise<Lock> {
  makePrivateDirectory(directory, { uid: ownUid() });
  const canonical = realpathSync.native(directory);
  const file = join(canonical, 'lock');
  const fd = openLockFile(file, canonical);
  try {
    const release = await take(fd, canonical, tryLock);
    if (release === null) throw await heldByAnother(file, canonical);
    writeOwner(fd);
    await removeDeadSockets(canonical);
    return heldLock(canonical, fd, release);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function heldLock(directory: string, fd: number, release: () => void): Lock {
  let isHeld = true;
  return {
    directory,
    close() {
      if (!isHeld) return;
      isHeld = false;
      // The file stays: who had opened it before it was removed would lock a file that nobody else sees.
      ftruncateSync(fd);
      closeSync(fd);
      release();
    },
  };
}

function openLockFile(file: string, directory: string): number {
  try {
    return openSync(file, OPEN_LOCK, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const what = `its file "lock" cannot be opened (${code})`;
    // A full disk lets us empty and remove what must not come back; here nothing that is taken back would stay so.
    const hint = code === 'EROFS' ? { hint: 'Mount its file system writable' } : {};
    throw new RootsError('DIRECTORY_UNSAFE', { path: directory, what }, { cause: error, ...hint });
  }
}

/** Takes the lock and returns what releases it besides closing `fd`, or null where another has it. */
async function take(fd: number, directory: string, tryLock: TryLock): Promise<(() => void) | null> {
  const isTaken = tryLock(fd);
  if (isTaken === null) return takeLockSocket(join(directory, 'lock.sock'));
  return isTaken ? () => {} : null;
}

/** For whoever comes second: a full disk that has no room for it keeps nobody from serving. */
function writeOwner(fd: number): void {
  try {
    ftruncateSync(fd);
    writeSync(fd, `${process.pid}\n`, 0);
  } catch (error) {
    if (!NO_ROOM.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

async function heldByAnother(file: string, directory: string): Promise<RootsError> {
  for (let tries = 0; tries < OWNER_TRIES; tries += 1) {
    const pid = Number(readFileSync(file, 'utf8'));
    if (isRunning(pid)) return running(directory, `the daemon with pid ${pid}`, `kill ${pid}`);
    await delay(OWNER_PAUSE_MS);
  }
  return running(directory, 'another daemon', `fuser "${file}" says which it is`);
}

function running(directory: string, owner: string, how: string): RootsError {
  return new RootsError('DAEMON_RUNNING', { directory, owner, how });
}

/** A number left by an earlier holder that was killed names nobody. */
function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
