import { readFileSync } from 'node:fs';

/** What /proc/PID/stat says of a process. */
export interface ProcessStat {
  /** One letter: `R`, `S`, `Z` … */
  readonly state: string;
  readonly parentPid: number;
  /** As setsid() makes one. */
  readonly session: number;
  /** Its controlling terminal, as a number of a device; 0: none. */
  readonly terminal: number;
  /** Clock ticks after boot (field 22). Numbers are used again, a number with its start time is not. */
  readonly startTime: string;
}

/** State, parent and start time of a process, or null where they cannot be read. */
export function readProcessStat(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses, which may hold blanks and parentheses itself.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, parentPid, , session, terminal] = fields;
    const startTime = fields[19];
    if (state === undefined || startTime === undefined) return null;
    return { state, parentPid: Number(parentPid), session: Number(session), terminal: Number(terminal), startTime };
  } catch {
    return null;
  }
}

/** Is there a process of that number, whoever's? */
export function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
