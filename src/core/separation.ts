// May a process answer for a person? An MCP server must not answer its own questions. What is looked at is where a process
// comes from; a hurdle, not a wall: who may run programs as the same user finds ways around it (docs/consent.md).

/** What is known of a process; undefined: it cannot be read. */
export interface ProcessTraits {
  readonly pid: number;
  /** The processes above it, the nearest first. */
  readonly ancestors: readonly number[];
  /** Its session of the terminal, as setsid() makes one. */
  readonly session: number | undefined;
  readonly cgroup: string | undefined;
  readonly noNewPrivileges: boolean | undefined;
}

/** A `rootsd run` and what it has started. */
export interface RunTraits {
  readonly pid: number;
  /** Who has started it: the host. */
  readonly parent: ProcessTraits;
  readonly descendants: readonly ProcessTraits[];
}

/** Why an answer from this process does not count; null: nothing speaks against it. */
export function whyNotFrom(caller: ProcessTraits, runs: readonly RunTraits[]): string | null {
  for (const run of runs) {
    const what = sharedWith(caller, run);
    if (what !== null) return `${what} (started by "rootsd run", pid ${run.pid})`;
  }
  return null;
}

/** Whoever has lost its parent is a child of this. */
const INIT_PID = 1;

/**
 * The same of a `rootsd run`, which speaks for its host: what it shares with what it has started itself, or with what that
 * host has started by others, says nothing.
 */
export function whyNotFromRun(caller: ProcessTraits, runs: readonly RunTraits[]): string | null {
  const [host] = caller.ancestors;
  const isKin = ({ pid, parent }: RunTraits): boolean =>
    pid === caller.pid || (parent.pid === host && host !== INIT_PID);
  return whyNotFrom(
    caller,
    runs.filter((run) => !isKin(run) || caller.ancestors.includes(run.pid)),
  );
}

function sharedWith(caller: ProcessTraits, { pid, parent, descendants }: RunTraits): string | null {
  if (caller.ancestors.includes(pid)) return 'an MCP server has started this process';
  const shares = (of: (traits: ProcessTraits) => number | string | undefined): boolean =>
    of(caller) !== of(parent) && descendants.some((one) => of(one) === of(caller));
  if (shares(({ session }) => session)) return 'this process is in the session of an MCP server';
  if (shares(({ cgroup }) => cgroup)) return 'this process is in the control group of an MCP server';
  // An MCP server can drop privileges for good, and its host has not: then neither has the terminal of a person.
  const isMarked = caller.noNewPrivileges !== false && parent.noNewPrivileges === false;
  return isMarked ? 'this process cannot get new privileges, which the host of an MCP server can' : null;
}
