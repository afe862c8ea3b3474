import { existsSync } from 'node:fs';
import type { SearchOptions } from '../client/find-socket.ts';
import { stateDirectory } from '../core/directories.ts';
import { findAccount, ownUid } from '../disk/account.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a program that has the user's environment looks for the daemon, as the commands do. */
export function daemonSearch(socket: string | undefined, env: Environment = process.env): SearchOptions {
  const uid = ownUid();
  const { home } = findAccount(uid, env.HOME);
  return {
    explicit: socket ?? (env.ROOTSD_SOCKET === '' ? undefined : env.ROOTSD_SOCKET),
    runtimeVariable: env.XDG_RUNTIME_DIR,
    uid,
    stateDirectory: home === null ? null : stateDirectory({ kind: 'command', env, uid, home, exists: existsSync }),
  };
}
