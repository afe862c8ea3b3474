import { existsSync } from 'node:fs';
import { type Attachment, attach, type Heard } from '../client/attach.ts';
import { LostConnection } from '../client/connection.ts';
import { describeSearch, findSockets, type SearchOptions, usableSockets } from '../client/find-socket.ts';
import { readPlanFirst } from '../client/plan-first.ts';
import { stateDirectory } from '../core/directories.ts';
import { RootsError } from '../core/errors.ts';
import { startsEarly } from '../core/plan-first.ts';
import { ATTACH_VERSION } from '../core/protocol.ts';
import { type FoundAccount, ownUid } from '../disk/account.ts';
import type { RunOptions } from './arguments.ts';
import { openReviver } from './revive-daemon.ts';
import { bringUpDaemon, type DaemonToStart, startDaemon } from './start-daemon.ts';

export interface ReachOptions {
  readonly run: RunOptions;
  /** Whose daemon it is: ours. Asked where it is needed. */
  readonly account: () => FoundAccount;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly binRootsd: string;
  readonly heard: Heard;
}

/** May the server be started before the daemon has answered? Not where a daemon must be started first. */
export function mayStartEarly(options: Omit<ReachOptions, 'heard'>): boolean {
  const { run } = options;
  const [socket] = usableSockets(searchOf(options));
  const first = socket === undefined ? null : readPlanFirst(socket);
  return first !== null && startsEarly(first, { server: run.server, argv: run.command });
}

/**
 * Attaches to the daemon; starts one where none answers and none was named, also later when it goes away and stays away.
 * Rejects with a RootsError DAEMON_UNREACHABLE, or a RefusedRequest of the daemon.
 */
export async function reachDaemon(options: ReachOptions): Promise<Attachment> {
  const { run, env, account, cwd, binRootsd, heard } = options;
  const search = searchOf(options);
  const daemon = (): DaemonToStart => ({ account: account(), binRootsd });
  const revive = openReviver({ start: () => void bringUpDaemon(daemon()) });
  const open = (): Promise<Attachment> =>
    attach({
      sockets: () => usableSockets(search),
      params: {
        version: ATTACH_VERSION,
        server: run.server,
        ...(run.host === null ? {} : { host: run.host }),
        launch: { argv: run.command, cwd },
      },
      ...heard,
      ...(run.socket === undefined ? { onAbsent: revive } : {}),
    });
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof LostConnection)) throw error;
    if (run.socket !== undefined) throw unreachable(error, search, run.socket);
  }
  return startDaemon({ ...daemon(), envHome: env.HOME, reach: () => open().catch(noneYet) });
}

function noneYet(error: unknown): null {
  if (error instanceof LostConnection) return null;
  throw error;
}

/** Of a daemon that was named: it is not ours to start. */
function unreachable(error: LostConnection, search: SearchOptions, socket: string): RootsError {
  const what = describeSearch(findSockets(search)) || error.message;
  const hint = `Start it with "rootsd serve --socket ${socket}"`;
  return new RootsError('DAEMON_UNREACHABLE', { what }, { hint, cause: error });
}

/** `~`, config and state are those of the user database, whatever the launcher's variables say. */
function searchOf({ run, env, account }: Pick<ReachOptions, 'run' | 'env' | 'account'>): SearchOptions {
  return {
    explicit: run.socket,
    runtimeVariable: env.XDG_RUNTIME_DIR,
    uid: ownUid(),
    // Looked up where no socket is found before: the user database may be far away.
    get stateDirectory() {
      const { uid, home } = account();
      return home === null ? null : stateDirectory({ kind: 'run', env, uid, home, exists: existsSync });
    },
  };
}
