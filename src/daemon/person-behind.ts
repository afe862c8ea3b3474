// May what says yes be a person? Of who calls the control socket, and of the host in front of a `rootsd run`.

import type { Observed } from '../core/peer.ts';
import { type ProcessTraits, type RunTraits, whyNotFrom, whyNotFromRun } from '../core/separation.ts';
import { readProcessStat } from '../disk/process-stat.ts';
import { readRuns, readTraits } from '../socket/process-tree.ts';

/** The pids of the sessions that start a server; null: one that the kernel does not name. */
export type Launchers = readonly (number | null)[];

const NOT_SEEN = 'it cannot be seen which process answers';

/** Why no person is behind a caller; null: nothing speaks against it. Asks nobody where no server runs. */
export function whyNoPerson(caller: () => Observed | null, launchers: Launchers): string | null {
  return launchers.length === 0 ? null : judge(caller(), launchers, whyNotFrom);
}

/** The same of a `rootsd run`, itself one of the launchers, that brings the word of its host. */
export function whyNoPersonAtHost(run: Observed | null, launchers: Launchers): string | null {
  return judge(run, launchers, whyNotFromRun);
}

/** Has another `rootsd run` started this one? Less to read than for whyNoPersonAtHost(): none of what they have started. */
export function isStartedByServer(run: Observed | null, launchers: Launchers): boolean {
  const traits = run?.pid === undefined ? null : readTraits(run.pid);
  return traits === null || traits.ancestors.some((pid) => launchers.includes(pid));
}

/**
 * The session of a caller whose terminal is a person's: one that no MCP server has made. null: it has none. What is typed
 * at a terminal that a server has opened for itself, the server types.
 */
export function terminalSession(caller: Observed | null, launchers: Launchers): number | null {
  const stat = caller?.pid === undefined ? null : readProcessStat(caller.pid);
  const leader = stat === null ? null : readProcessStat(stat.session);
  if (stat === null || leader === null || stat.terminal === 0 || leader.terminal !== stat.terminal) return null;
  const traits = readTraits(stat.session);
  const known = launchers.filter((launcher) => launcher !== null);
  if (traits === null || known.length < launchers.length) return null;
  return whyNotFrom(traits, readRuns(known)) === null ? stat.session : null;
}

function judge(
  observed: Observed | null,
  launchers: Launchers,
  why: (traits: ProcessTraits, runs: readonly RunTraits[]) => string | null,
): string | null {
  const traits = observed?.pid === undefined ? null : readTraits(observed.pid);
  const known = launchers.filter((launcher) => launcher !== null);
  if (traits === null || known.length < launchers.length) return NOT_SEEN;
  return why(traits, readRuns(known));
}
