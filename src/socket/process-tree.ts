// Where processes come from, by /proc: for whyNotFrom().

import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessTraits, RunTraits } from '../core/separation.ts';
import { type ProcessStat, readProcessStat } from '../disk/process-stat.ts';

type Stats = ReadonlyMap<number, ProcessStat>;
type StatOf = (pid: number) => ProcessStat | null;

/** What is known of a process; null where it has ended or there is no /proc. */
export function readTraits(pid: number): ProcessTraits | null {
  const stat = readProcessStat(pid);
  return stat === null ? null : traitsOf(pid, stat, readProcessStat);
}

/**
 * Each `rootsd run` of these with what it has started; one that has ended has nothing. However many there are, every process of
 * the machine is looked at once, and closely if one of them has started it.
 */
export function readRuns(pids: readonly number[]): readonly RunTraits[] {
  const runs = new Map([...new Set(pids)].map((pid) => [pid, [] as ProcessTraits[]]));
  if (runs.size === 0) return [];
  const stats: Stats = new Map(readAll().flatMap((pid) => withStat(pid)));
  const statOf: StatOf = (pid) => stats.get(pid) ?? null;
  for (const [pid, stat] of stats) {
    const above = ancestorsOf(stat, statOf).filter((ancestor) => runs.has(ancestor));
    if (above.length === 0) continue;
    const traits = traitsOf(pid, stat, statOf);
    for (const run of above) runs.get(run)?.push(traits);
  }
  const hosts = new Map<number, ProcessTraits | null>();
  return [...runs].flatMap(([pid, descendants]) => {
    const parentPid = statOf(pid)?.parentPid ?? 0;
    const parent = hosts.get(parentPid) ?? readTraits(parentPid);
    hosts.set(parentPid, parent);
    return parent === null ? [] : [{ pid, parent, descendants }];
  });
}

function withStat(pid: number): readonly (readonly [number, ProcessStat])[] {
  const stat = readProcessStat(pid);
  return stat === null ? [] : [[pid, stat]];
}

function traitsOf(pid: number, stat: ProcessStat, statOf: StatOf): ProcessTraits {
  return { pid, ancestors: ancestorsOf(stat, statOf), session: stat.session, ...readMarks(pid) };
}

function ancestorsOf(stat: ProcessStat, statOf: StatOf): readonly number[] {
  const ancestors: number[] = [];
  let next: ProcessStat | null = stat;
  while (next !== null && next.parentPid > 0 && !ancestors.includes(next.parentPid)) {
    ancestors.push(next.parentPid);
    next = statOf(next.parentPid);
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
