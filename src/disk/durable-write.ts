import { randomBytes } from 'node:crypto';
import { constants, readdirSync, rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export type WriteStep = 'create' | 'write' | 'sync' | 'rename' | 'sync-directory';

export interface DurableWriteOptions {
  /** Permission bits of the file, whatever the umask; 0600 by default. */
  readonly mode?: number;
  /** Called before each step: what it throws is a failure of that step. */
  readonly onStep?: (step: WriteStep) => void;
}

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes a whole file so that after a crash there is the old content or the new, never a part: temporary file in the same
 * directory, fsync, rename, fsync of the directory. A link of that name is replaced, not followed.
 *
 * Rejects with the operating system's error; the temporary file is gone then, and the old content stands unless
 * `sync-directory` failed (the new content is there but may not outlast a power cut). A process that is killed can leave
 * a temporary file behind: removeLeftovers() takes it away.
 */
export async function writeDurably(
  path: string,
  data: string | Uint8Array,
  { mode = 0o600, onStep }: DurableWriteOptions = {},
): Promise<void> {
  const directory = dirname(path);
  const temporary = join(directory, `.${basename(path)}.${randomBytes(8).toString('hex')}.tmp`);
  onStep?.('create');
  const file = await open(temporary, CREATE, mode);
  try {
    try {
      await file.chmod(mode);
      onStep?.('write');
      await file.writeFile(data);
      onStep?.('sync');
      await file.sync();
    } finally {
      await file.close();
    }
    onStep?.('rename');
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  onStep?.('sync-directory');
  await syncDirectory(directory);
}

/**
 * Removes what writes of this path have left that were killed. For who keeps others from writing it meanwhile: their
 * temporary files would be taken for leftovers.
 */
export function removeLeftovers(path: string): void {
  const directory = dirname(path);
  for (const name of readdirSync(directory)) {
    if (isTemporaryOf(basename(path), name)) rmSync(join(directory, name), { force: true });
  }
}

function isTemporaryOf(name: string, other: string): boolean {
  return other.startsWith(`.${name}.`) && /^[0-9a-f]{16}\.tmp$/.test(other.slice(name.length + 2));
}

/**
 * Makes what was done to the entries of a directory outlast a power cut. Some filesystems (FUSE, 9p) have no fsync for
 * directories and say so: nothing more can be done there.
 */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EINVAL' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
  } finally {
    await handle.close();
  }
}
