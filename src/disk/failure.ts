import type { Mount } from './mount.ts';

/** Why the disk gave no answer. A "no" is a value here, not an exception: deciding what it means is the caller's part. */
export interface Failure {
  readonly ok: false;
  /** `EACCES` and the like; null where no system call failed. */
  readonly errno: string | null;
  /** Goes on where "the path" stops: `does not exist`. */
  readonly why: string;
  /** The disk was not asked: the way leads into this mount, where that may hang. */
  readonly slow?: Mount;
}

const TEXTS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'goes on below something that is not a directory',
  EACCES: 'cannot be looked at: permission denied',
  ELOOP: 'goes through a loop of links, too many of them, or a magic link of /proc',
  ENAMETOOLONG: 'is too long for the file system',
  EIO: 'cannot be looked at: the device reports an error',
  ESTALE: 'cannot be looked at: the file server has forgotten it',
};

export function failure(why: string, errno: string | null = null): Failure {
  return { ok: false, errno, why };
}

/** The failure of a system call by its errno. */
export function errnoFailure(errno: string): Failure {
  return failure(TEXTS[errno] ?? `cannot be looked at: ${errno}`, errno);
}

/** The failure that an exception of `node:fs` stands for; anything else is a bug and thrown on. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string') {
    return errnoFailure(error.code);
  }
  throw error;
}
