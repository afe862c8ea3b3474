// One session after the other works on a file of settings. The lock is a link whose text says whose it is: it is made at once
// or not at all, and never seen half written.
//
// A lock whose process is gone is taken away by one taker alone: who holds the claim, a lock of its own that is named after
// that very lock, and has seen under the claim that it still stands there. A lock's name for itself (`token`) is never used
// again, so a claim that comes late finds another lock, and leaves it.

import { readdirSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isThere } from '../disk/process-stat.ts';
import { randomBytes } from '../disk/random.ts';
import { identifyProcess, isAlive } from './processes.ts';

/** A process for good. */
export interface Owner {
  readonly pid: number;
  /** null where the system does not tell. */
  readonly startTime: string | null;
}

interface Mark extends Owner {
  readonly token: string;
}

/** How long one and the same session may have it. */
const PATIENCE_MS = 5_000;
const POLL_MS = 20;

/** Runs `act` while nobody else does who has this lock. Throws an Error where another has it for too long. */
export async function alone<T>(lock: string, act: () => Promise<T>): Promise<T> {
  await take(lock, JSON.stringify({ ...ownIdentity(), token: randomBytes(8).toString('hex') } satisfies Mark));
  try {
    removeClaims(lock);
    return await act();
  } finally {
    remove(lock);
  }
}

export function ownIdentity(): Owner {
  return { pid: process.pid, startTime: identifyProcess(process.pid)?.startTime ?? null };
}

export function isLiving({ pid, startTime }: Owner): boolean {
  return startTime === null ? isThere(pid) : isAlive({ pid, startTime });
}

async function take(lock: string, mark: string): Promise<void> {
  let waited = { for: '', ms: 0 };
  for (let other = tryTake(lock, mark); other !== null; other = tryTake(lock, mark)) {
    waited = { for: other, ms: other === waited.for ? waited.ms + POLL_MS : 0 };
    if (waited.ms >= PATIENCE_MS) throw new Error(`another session has had "${lock}" for too long`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** null: it is ours. Else the text of who has it, or had it until now. */
function tryTake(lock: string, mark: string): string | null {
  if (make(lock, mark)) return null;
  const other = read(lock);
  if (other === null || isHeld(other)) return other ?? '';
  const claim = `${lock}.${tokenOf(other)}`;
  const claimant = tryTake(claim, mark);
  if (claimant !== null) return claimant;
  try {
    if (read(lock) === other) remove(lock);
  } finally {
    remove(claim);
  }
  return other;
}

/** Of locks that are no more. Who has one of them sees ours, and does nothing. */
function removeClaims(lock: string): void {
  const directory = dirname(lock);
  for (const name of readdirSync(directory)) if (name.startsWith(`${basename(lock)}.`)) remove(join(directory, name));
}

/** false: there is one already. */
function make(lock: string, text: string): boolean {
  try {
    symlinkSync(text, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** null: there is none. What is no link was never ours, and says nothing. */
function read(lock: string): string | null {
  try {
    return readlinkSync(lock);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'EINVAL') return '';
    throw error;
  }
}

function remove(lock: string): void {
  try {
    unlinkSync(lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** One that says nothing is nobody's. */
function isHeld(text: string): boolean {
  const mark = parse(text);
  return mark !== null && isLiving(mark);
}

/** Part of a name. */
function tokenOf(text: string): string {
  const token = parse(text)?.token;
  return typeof token === 'string' && /^[0-9a-f]{16}$/.test(token) ? token : 'broken';
}

function parse(text: string): Mark | null {
  try {
    const mark = JSON.parse(text) as Mark | null;
    return typeof mark?.pid === 'number' ? mark : null;
  } catch {
    return null;
  }
}
