import { spawnSync } from 'node:child_process';

/** Where util-linux or busybox puts it: never looked for along the launcher's PATH. */
const PATH = '/usr/bin:/bin';
/** What it ends with where another open file holds the lock. */
const HELD = 1;
const LIMIT_MS = 5_000;

/**
 * Takes an exclusive flock on an open file by the program `flock`. The lock belongs to the open file, which we share with
 * the program, so it stays ours when that has ended. null: there is no such program, or it could not tell.
 */
export function tryLockByProgram(fd: number): boolean | null {
  // In the child the file is descriptor 3.
  const { status } = spawnSync('flock', ['-n', '3'], {
    env: { PATH },
    stdio: ['ignore', 'ignore', 'ignore', fd],
    timeout: LIMIT_MS,
  });
  if (status === 0) return true;
  return status === HELD ? false : null;
}
