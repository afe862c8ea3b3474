// Processes below the child, from /proc: to end a launcher (npx, uvx, sh) is not to end the server. Where there is no
// /proc, the child alone is known.

import { readdirSync, readFileSync } from 'node:fs';
import { type ProcessStat, readProcessStat } from '../disk/process-stat.ts';

/** A process for good: numbers are used again, a number with its start time is not. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot, /proc/PID/stat field 22. */
  readonly startTime: string;
}

/** The process of that number now, or null where there is none or only its remains. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const stat = readProcessStat(pid);
  return stat === null || 'ZXx'.includes(stat.state) ? null : { pid, startTime: stat.startTime };
}

export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  return identifyProcess(pid)?.startTime === startTime;
}

/** All that descend from these, themselves included where alive. One that re-parented itself is not found. */
export function descendantsOf(ancestors: readonly ProcessIdentity[]): readonly ProcessIdentity[] {
  const living = ancestors.filter(isAlive);
  return listedDescendants(living) ?? searchDescendants(living);
}

/**
 * As the kernel lists the children of each thread, which takes a hundredth of a search of all processes. null: this kernel
 * does not, or a list may be incomplete. It leaves one out only if one that it has named ends while it is read (proc(5)), or
 * where a thread ends and its children become those of another; both are seen.
 */
function listedDescendants(ancestors: readonly ProcessIdentity[]): readonly ProcessIdentity[] | null {
  const found = new Map(ancestors.map((process) => [process.pid, process]));
  // A Map gives what is added to it while one goes through it.
  for (const pid of found.keys()) {
    const children = listChildren(pid);
    if (children === null) return null;
    for (const child of children) if (!found.has(child.pid)) found.set(child.pid, child);
  }
  return [...found.values()];
}

function listChildren(pid: number): readonly ProcessIdentity[] | null {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1'));
    const children = lists.flatMap((list) => list.trim().split(' ')).filter((child) => child !== '');
    const found = children.map(Number).map((child) => ({ pid: child, stat: readProcessStat(child) }));
    const there = found.flatMap(({ pid: child, stat }) =>
      stat?.parentPid === pid ? { pid: child, startTime: stat.startTime } : [],
    );
    return there.length === found.length ? there : null;
  } catch {
    return null;
  }
}

/** Of all processes those whose parents lead to them. */
function searchDescendants(ancestors: readonly ProcessIdentity[]): readonly ProcessIdentity[] {
  const entries = readEntries();
  const found = new Map(ancestors.map((process) => [process.pid, process]));
  for (let grows = true; grows; ) {
    const children = entries.filter(({ pid, parentPid }) => found.has(parentPid) && !found.has(pid));
    for (const { pid, startTime } of children) found.set(pid, { pid, startTime });
    grows = children.length > 0;
  }
  return [...found.values()];
}

/** Signals one process, if it still is the one; never a group. */
export function signalProcess(process: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(process)) return;
  try {
    globalThis.process.kill(process.pid, signal);
  } catch {
    // It ended in between, or has become somebody else's: there is nobody to signal.
  }
}

function readEntries(): readonly (ProcessIdentity & ProcessStat)[] {
  try {
    const pids = readdirSync('/proc').map(Number);
    return pids.filter(Number.isInteger).flatMap((pid) => {
      const stat = readProcessStat(pid);
      return stat === null ? [] : { pid, ...stat };
    });
  } catch {
    return [];
  }
}
