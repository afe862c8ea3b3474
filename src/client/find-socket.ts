// Where clients look for the daemon. The search is the same for all of them; only what `state` means differs:
// `rootsd run` takes it from the user database, other clients honour the user's variables. So it comes in as a parameter.
//
// A socket that somebody else could have put there is refused: it would decide what servers may touch.

import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { maxSocketPathBytes } from '../core/path.ts';

export const PEERS_SOCKET = 'rootsd.sock';
export const CONTROL_SOCKET = 'control.sock';
/** Written by `serve` in its state directory: the path of its peers' socket. */
export const ENDPOINT_FILE = 'endpoint';
const MAX_ENDPOINT_BYTES = 4_096;

export interface SearchOptions {
  /** `--socket` or `$ROOTSD_SOCKET`: the only place to look at. */
  readonly explicit?: string | undefined;
  /** `$XDG_RUNTIME_DIR` */
  readonly runtimeVariable?: string | undefined;
  readonly uid: number;
  /** null: the home is not known. */
  readonly stateDirectory: string | null;
  /** Where the machine keeps runtime directories, `/run`; tests name their own. */
  readonly run?: string;
}

export interface RefusedSocket {
  readonly path: string;
  readonly why: string;
}

export interface FoundSockets {
  /** In the order in which to try them. */
  readonly usable: readonly string[];
  readonly refused: readonly RefusedSocket[];
}

/** Looks at every place where the daemon's socket may be; says of each that cannot be used why. */
export function findSockets(options: SearchOptions): FoundSockets {
  const usable: string[] = [];
  const refused: RefusedSocket[] = [];
  for (const path of new Set(candidates(options))) {
    const why = whyRefused(path, options.uid);
    if (why === null) usable.push(path);
    else refused.push({ path, why });
  }
  return { usable, refused };
}

/** Those that may be used, in the order in which to try them; looked for one by one, as far as they are tried. */
export function* usableSockets(options: SearchOptions): Generator<string> {
  const seen = new Set<string>();
  for (const path of candidates(options)) {
    if (!seen.has(path) && whyRefused(path, options.uid) === null) yield path;
    seen.add(path);
  }
}

/** The places, in order. */
function* candidates(options: SearchOptions): Generator<string> {
  const { explicit, runtimeVariable, uid, run = '/run' } = options;
  if (explicit !== undefined) {
    yield explicit;
    return;
  }
  if (runtimeVariable?.startsWith('/')) yield join(runtimeVariable, 'rootsd', PEERS_SOCKET);
  yield join(run, 'user', String(uid), 'rootsd', PEERS_SOCKET);
  const { stateDirectory } = options;
  if (stateDirectory !== null) {
    const told = readEndpoint(join(stateDirectory, ENDPOINT_FILE), uid);
    if (told !== null) yield told;
    yield join(stateDirectory, 'run', PEERS_SOCKET);
  }
  yield join(run, 'rootsd', PEERS_SOCKET);
}

/** Why a socket must not be used, or null if it may be. A live daemon may still be missing behind it. */
export function whyRefused(path: string, uid: number): string | null {
  const limit = maxSocketPathBytes(process.platform);
  const length = Buffer.byteLength(path);
  if (!path.startsWith('/')) return 'it is not an absolute path';
  if (path.includes('\0')) return 'it holds a NUL character';
  if (length > limit) return `its path has ${length} bytes, the limit is ${limit}`;
  const socket = statOf(path);
  if (typeof socket === 'string') return socket;
  if (!socket.isSocket()) return 'it is not a socket';
  if (!isOurs(socket, uid)) return `it belongs to uid ${socket.uid}, it must belong to root or to uid ${uid}`;
  if ((socket.mode & 0o022) !== 0 && socket.uid !== 0) return 'it is writable by others';
  const directory = statOf(dirname(path));
  if (typeof directory === 'string') return directory;
  if (!isOurs(directory, uid)) return `its directory belongs to uid ${directory.uid}`;
  return (directory.mode & 0o022) === 0 ? null : 'its directory is writable by others';
}

function isOurs(stats: Stats, uid: number): boolean {
  return stats.uid === 0 || stats.uid === uid;
}

function statOf(path: string): Stats | string {
  try {
    return statSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'there is none' : `it cannot be looked at (${code})`;
  }
}

/** The path in the endpoint file, or null where there is none that we may believe. */
function readEndpoint(file: string, uid: number): string | null {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || !isOurs(stats, uid) || (stats.mode & 0o022) !== 0) return null;
    const buffer = Buffer.alloc(MAX_ENDPOINT_BYTES);
    const path = buffer.toString('utf8', 0, readSync(fd, buffer)).replace(/\r?\n$/, '');
    return path.startsWith('/') ? path : null;
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

/** `control.sock` lies beside the peers' socket. */
export function controlSocketOf(peersSocket: string): string {
  return join(dirname(peersSocket), CONTROL_SOCKET);
}

/** One line on all places that were looked at, for a message. */
export function describeSearch({ refused }: FoundSockets): string {
  return refused.map(({ path, why }) => `"${path}": ${why}`).join('; ');
}
