// Where processes come from, by /proc: for whyNotFrom().

import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessTraits, RunTraits } from '../core/separation.ts';
import { type ProcessStat, readProcessStat } from '../disk/process-stat.ts';

/** What is known of a process; null where it has ended or there is no /proc. */
export function readTraits(pid: number): ProcessTraits | null {
  const stat = readProcessStat(pid);
  if (stat === null) return null;
  return { pid, ancestors: ancestorsOf(stat), session: stat.session, ...readMarks(pid) };
}

/** Each `rootsd run` of these with what it has started; one that has ended has nothing. */
export function readRuns(pids: readonly number[]): readonly RunTraits[] {
  if (pids.length === 0) return [];
  const all = readAll().flatMap((pid) => readTraits(pid) ?? []);
  return pids.flatMap((pid) => {
    const parentPid = readProcessStat(pid)?.parentPid;
    const parent = parentPid === undefined ? null : readTraits(parentPid);
    if (parent === null) return [];
    return [{ pid, parent, descendants: all.filter(({ ancestors }) => ancestors.includes(pid)) }];
  });
}

function ancestorsOf(stat: ProcessStat): readonly number[] {
  const ancestors: number[] = [];
  let next: ProcessStat | null = stat;
  while (next !== null && next.parentPid > 0 && !ancestors.includes(next.parentPid)) {
    ancestors.push(next.parentPid);
    next = readProcessStat(next.parentPid);
  }
  return ancestors;
}

function readMarks(pid: number): Pick<ProcessTraits, 'cgroup' | 'noNewPrivileges'> {
  const mark = /^NoNewPrivs:\s*([01])$/m.exec(readText(`/proc/${pid}/status`) ?? '')?.[1];
  return { cgroup: readText(`/proc/${pid}/cgroup`), noNewPrivileges: mark === undefined ? undefined : mark === '1' };
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}

function readAll(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}
