import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ownUid } from '../disk/account.ts';
import { isAnswered } from './listen.ts';
import { isTemporarySocketName } from './temporary-socket.ts';

/**
 * Removes what a process leaves that is killed while it binds a socket: one under a name of the moment that nobody answers
 * at. For whoever holds the directory's lock: a socket that is being bound just now belongs to somebody who will not get it.
 */
export async function removeDeadSockets(directory: string): Promise<void> {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (isTemporarySocketName(name) && isOwnSocket(path) && !(await isAnswered(path))) rmSync(path, { force: true });
  }
}

function isOwnSocket(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isSocket() === true && stats.uid === ownUid();
}
