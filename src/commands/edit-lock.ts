// Two edits of local.yaml at once: each would read, and the one that writes last would undo the other.

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { RootsError } from '../core/errors.ts';
import { openNative } from '../disk/native.ts';
import { acquireLock, type Lock, lockBy } from '../socket/lock.ts';
import type { Machine } from './machine.ts';

const LONGEST_WAIT_MS = 30_000;
const PAUSE_MS = 20;

/** Runs an edit, from reading to writing, when no other one of this user is under way. Throws POLICY_BUSY after 30 s. */
export async function whileAlone<T>(machine: Machine, edit: () => Promise<T>): Promise<T> {
  const lock = await takeLock(join(machine.stateDirectory, 'edit'));
  try {
    return await edit();
  } finally {
    lock.close();
  }
}

async function takeLock(directory: string): Promise<Lock> {
  const tryLock = lockBy(await openNative());
  const endMs = performance.now() + LONGEST_WAIT_MS;
  for (;;) {
    try {
      return await acquireLock(directory, tryLock);
    } catch (error) {
      if (!(error instanceof RootsError) || error.code !== 'DAEMON_RUNNING') throw error;
      if (performance.now() > endMs) throw new RootsError('POLICY_BUSY', {}, { cause: error });
    }
    await delay(PAUSE_MS);
  }
}
