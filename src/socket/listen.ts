// Listening on a Unix socket so that nobody else can reach it for a moment, that a live socket is never taken over and a
// dead one is. It is bound under a random name in a directory that is ours alone, made what it must be, and renamed.

import { chmodSync, lstatSync, realpathSync, renameSync, type Stats, unlinkSync } from 'node:fs';
import { createConnection } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { RootsError } from '../core/errors.ts';
import { maxSocketPathBytes } from '../core/path.ts';
import { ownUid } from '../disk/account.ts';
import { makePrivateDirectory } from '../disk/private-directory.ts';
import { pathOfSocket } from './inherited-path.ts';
import { type ListenHandlers, PausableServer } from './pausable-server.ts';
import { temporarySocketName } from './temporary-socket.ts';

/** Where to listen. An inherited descriptor's file belongs to the service manager: it is never unlinked. */
export type ListenAt =
  | { readonly path: string /** Permission bits; 0600 by default. */; readonly mode?: number }
  | { readonly fd: number; readonly name: string };

export interface Listener {
  /** The path; `fd:N` where the kernel knows none. */
  readonly address: string;
  /** Can peers still connect? The file that they do it by may have been cleaned away, or replaced. */
  isThere(): boolean;
  /** Leaves new connections to the kernel until resume(). False where that cannot be done. */
  pause(): boolean;
  /** Accepts them. */
  resume(): void;
  /** Accepts no more connections, and removes the file if it is still ours. Connections that are open stay. */
  close(): void;
}

/** Node cuts longer paths and listens somewhere else. */
export const MAX_SOCKET_PATH_BYTES = maxSocketPathBytes(process.platform);
const OWNER_ONLY = 0o600;
/** Connections that wait to be accepted: as many as sessions. Where it is full, connect() fails at once with EAGAIN. */
const BACKLOG = 4096;
const MAX_TRIES = 20;
/** How long a process that accepts no connection may keep us from calling it alive. */
const PROBE_MS = 1_000;

/** Throws a RootsError: `SOCKET_PATH_TOO_LONG`, `DIRECTORY_UNSAFE`, `SOCKET_UNSAFE`, `SOCKET_IN_USE`, `SOCKET_FAILED`. */
export async function listen(at: ListenAt, handlers: ListenHandlers): Promise<Listener> {
  const server = new PausableServer(handlers, BACKLOG);
  const listener = await ('path' in at ? listenAtPath(server, at.path, at.mode) : listenInherited(server, at.fd));
  server.opened();
  return {
    ...listener,
    // A server that could not go on after a pause is deaf, whatever its file looks like.
    isThere: () => server.isOpen && listener.isThere(),
    pause: () => server.pause(),
    resume: () => server.resume(),
  };
}

/** Throws `SOCKET_PATH_TOO_LONG` for a path that the kernel does not take whole. */
export function checkPathLength(path: string): void {
  const length = Buffer.byteLength(path);
  if (length > MAX_SOCKET_PATH_BYTES)
    throw new RootsError('SOCKET_PATH_TOO_LONG', { path, length, limit: MAX_SOCKET_PATH_BYTES });
}

/**
 * Without the native layer nobody says who connects: then the file's mode must keep other users out. Throws `SOCKET_UNSAFE`.
 */
export function checkOwnerOnly({ address }: Pick<Listener, 'address'>): void {
  const stats = lstatSync(address, { throwIfNoEntry: false });
  // Who connects must be able to write.
  if (stats?.isSocket() && (stats.mode & 0o022) === 0) return;
  const what = 'its mode lets other users in, and without the native layer nobody says who connects';
  throw new RootsError('SOCKET_UNSAFE', { path: address, what });
}

type Place = Pick<Listener, 'address' | 'isThere' | 'close'>;

async function listenInherited(server: PausableServer, fd: number): Promise<Place> {
  await listening(server, `fd:${fd}`, () => server.listen({ fd }));
  return {
    address: pathOfSocket(fd) ?? `fd:${fd}`,
    isThere: () => true,
    close: () => server.close(),
  };
}

async function listenAtPath(server: PausableServer, path: string, mode = OWNER_ONLY): Promise<Place> {
  checkPathLength(path);
  makePrivateDirectory(dirname(path), { uid: ownUid() });
  const canonical = join(realpathSync.native(dirname(path)), basename(path));
  checkPathLength(canonical);
  await checkFree(canonical);
  const bound = await bindUnderRandomName(server, canonical);
  try {
    const ours = restrict(bound, mode);
    renameSync(bound, canonical);
    return {
      address: canonical,
      isThere: () => isSameFile(canonical, ours),
      close: () => removeAndClose(server, canonical, ours),
    };
  } catch (error) {
    server.close();
    throw error instanceof RootsError ? error : failed(canonical, error);
  }
}

/** A live socket is never taken over; what is no socket is never removed. */
async function checkFree(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket()) throw new RootsError('SOCKET_UNSAFE', { path, what: 'something that is no socket is there' });
  if (await isAnswered(path)) throw new RootsError('SOCKET_IN_USE', { path });
}

/** Does a process listen there? Only a plain "nobody" is a no. */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    const answer = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(PROBE_MS, () => answer(true));
    socket.on('connect', () => answer(true));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => answer(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
  });
}

async function bindUnderRandomName(server: PausableServer, path: string): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const bound = join(dirname(path), randomName(dirname(path)));
    try {
      await listening(server, path, () => listenOwnerOnly(server, bound));
      return bound;
    } catch (error) {
      const { code } = ((error as RootsError).cause ?? {}) as NodeJS.ErrnoException;
      if (code !== 'EADDRINUSE' || tries === MAX_TRIES) throw error;
    }
  }
}

/** Node binds before listen() returns, so that no other code sees this umask. */
function listenOwnerOnly(server: PausableServer, path: string): void {
  const before = process.umask(0o077);
  try {
    server.listen({ path });
  } finally {
    process.umask(before);
  }
}

/** Fits the kernel's limit too. When the server closes, Node removes this name: it must never be another file's. */
function randomName(directory: string): string {
  return temporarySocketName(MAX_SOCKET_PATH_BYTES - Buffer.byteLength(directory) - 1);
}

/** Gives the socket its mode and looks at the result: a socket that could not be made private is no socket. */
function restrict(path: string, mode: number): Stats {
  chmodSync(path, mode);
  const stats = lstatSync(path);
  if (stats.isSocket() && stats.uid === ownUid() && (stats.mode & 0o777) === mode) return stats;
  throw new RootsError('SOCKET_UNSAFE', { path, what: 'its owner or mode is not what it was given' });
}

async function listening(server: PausableServer, path: string, start: () => void): Promise<void> {
  const started = server.started();
  start();
  try {
    await started;
  } catch (error) {
    throw failed(path, error);
  }
}

/** The file first: as long as the socket is open, no other one can have its inode. */
function removeAndClose(server: PausableServer, path: string, ours: Stats): void {
  if (!server.isOpen) return;
  if (isSameFile(path, ours)) unlinkSync(path);
  server.close();
}

function isSameFile(path: string, ours: Stats): boolean {
  const now = lstatSync(path, { throwIfNoEntry: false });
  return now?.ino === ours.ino && now.dev === ours.dev;
}

function failed(path: string, error: unknown): RootsError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new RootsError('SOCKET_FAILED', { path, what: code ?? message }, { cause: error });
}
