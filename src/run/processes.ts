// Processes below the child, from /proc: to end a launcher (npx, uvx, sh) is not to end the server. Where there is no
// /proc, the child alone is known.

import { readdirSync, readFileSync } from 'node:fs';

/** A process for good: numbers are used again, a number with its start time is not. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot, /proc/PID/stat field 22. */
  readonly startTime: string;
}

interface ProcessEntry extends ProcessIdentity {
  readonly parent: number;
  readonly state: string;
}

/** The process of that number now, or null where there is none or only its remains. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const entry = readEntry(pid);
  return entry === null || 'ZXx'.includes(entry.state) ? null : { pid, startTime: entry.startTime };
}

export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  return identifyProcess(pid)?.startTime === startTime;
}

/** All that descend from these, themselves included where alive. One that re-parented itself is not found. */
export function descendantsOf(ancestors: readonly ProcessIdentity[]): readonly ProcessIdentity[] {
  const entries = readEntries();
  const found = new Map(ancestors.filter(isAlive).map((process) => [process.pid, process]));
  for (let grows = true; grows; ) {
    const children = entries.filter(({ pid, parent }) => found.has(parent) && !found.has(pid));
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

function readEntries(): readonly ProcessEntry[] {
  try {
    const pids = readdirSync('/proc').map(Number);
    return pids.flatMap((pid) => (Number.isInteger(pid) ? (readEntry(pid) ?? []) : []));
  } catch {
    return [];
  }
}

/** The name in parentheses may hold anything, parentheses too: what counts starts after the last one. */
function readEntry(pid: number): ProcessEntry | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, parent, startTime] = [fields[0], fields[1], fields[19]];
    if (state === undefined || startTime === undefined) return null;
    return { pid, parent: Number(parent), state, startTime };
  } catch {
    return null;
  }
}
