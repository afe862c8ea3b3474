// A lock without flock: a socket that its holder listens on. It is bound under another name and linked to its own, which
// fails where there is one already: of several that start at once one wins.

import { type BigIntStats, linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RootsError } from '../core/errors.ts';
import { isAnswered, type Listener, listen, MAX_SOCKET_PATH_BYTES } from './listen.ts';
import { temporarySocketName } from './temporary-socket.ts';

const MAX_TRIES = 10;

/** Takes the lock and returns its release, or null where a live process has it. */
export async function takeLockSocket(path: string): Promise<(() => void) | null> {
  const handlers = { onConnection: (socket: { destroy(): void }) => socket.destroy(), onError: () => {} };
  const own = await listen({ path: temporaryName(path) }, handlers);
  try {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (tryLink(own.address, path)) return hold(own, path);
      const seen = statOf(path);
      if (seen?.isSocket() === false)
        throw new RootsError('SOCKET_UNSAFE', { path, what: 'something that is no socket is there' });
      if (await isAnswered(path)) break;
      if (seen !== undefined) removeDead(path, seen);
    }
  } catch (error) {
    own.close();
    throw error;
  }
  own.close();
  return null;
}

function hold(own: Listener, path: string): () => void {
  const ours = statOf(path);
  unlinkSync(own.address);
  return () => {
    if (ours !== undefined && isSame(statOf(path), ours)) unlinkSync(path);
    own.close();
  };
}

/** Another one may have removed the dead socket and linked its own meanwhile: what is moved is looked at, and put back. */
function removeDead(path: string, dead: BigIntStats): void {
  const aside = temporaryName(path);
  if (!tryTo(() => renameSync(path, aside), 'ENOENT')) return;
  if (!isSame(statOf(aside), dead)) tryLink(aside, path);
  unlinkSync(aside);
}

function tryLink(from: string, to: string): boolean {
  return tryTo(() => linkSync(from, to), 'EEXIST');
}

/** False where it fails with that code. */
function tryTo(act: () => void, expectedCode: string): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === expectedCode) return false;
    throw error;
  }
}

function statOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Inode numbers are used again, the time of birth tells them apart. */
function isSame(a: BigIntStats | undefined, b: BigIntStats): boolean {
  return a !== undefined && a.dev === b.dev && a.ino === b.ino && a.birthtimeNs === b.birthtimeNs;
}

/** Hardly longer than `rootsd.sock`: where that fits the kernel's limit this does, or is cut to fit. */
function temporaryName(path: string): string {
  const directory = dirname(path);
  return join(directory, temporarySocketName(MAX_SOCKET_PATH_BYTES - Buffer.byteLength(directory) - 1));
}
