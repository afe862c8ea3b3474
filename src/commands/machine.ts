// What a command knows of the machine it runs on before it asks the daemon or reads a policy.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SearchOptions } from '../client/find-socket.ts';
import {
  findConfig,
  homeDirectory,
  type PolicyDirectories,
  policyDirectories,
  runtimeDirectory,
  type Surroundings,
  stateDirectory,
} from '../core/directories.ts';
import { RootsError } from '../core/errors.ts';
import type { Expansions } from '../core/pattern.ts';
import { findAccount, ownUid } from '../disk/account.ts';
import { expansionsOf } from '../system/expansions.ts';
import { refuseMangled } from './given-arguments.ts';
import type { Io } from './io.ts';

export interface LocateOptions {
  readonly config?: string;
  readonly socket?: string;
}

export interface Machine {
  readonly uid: number;
  /** What `~` means here. */
  readonly home: string;
  readonly expansions: Expansions;
  /** The configuration file, or null where there is none. */
  readonly configPath: string | null;
  /** It was named: then it must be there. */
  readonly isConfigNamed: boolean;
  /** Where policies lie unless the configuration says otherwise. */
  readonly policyDirectories: PolicyDirectories;
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  readonly search: SearchOptions;
}

/** Finds home, configuration, state and sockets. Throws RootsError USAGE where no home is known. */
export function locateMachine({ config, socket }: LocateOptions, io: Io, kind: 'serve' | 'command'): Machine {
  const uid = ownUid();
  const account = findAccount(uid, io.env.HOME);
  const home = account.home ?? io.env.HOME;
  if (home === undefined) {
    throw new RootsError('USAGE', {
      what: `Cannot find the home directory of uid ${uid}: set HOME to a directory of it`,
    });
  }
  const from: Surroundings = { kind, env: io.env, uid, home, exists };
  refuseMangled('the home directory', homeDirectory(from), 'environ');
  const named = config === undefined ? undefined : resolve(io.cwd(), config);
  const explicit = socket === undefined ? emptyAsUnset(io.env.ROOTSD_SOCKET) : resolve(io.cwd(), socket);
  const found = findConfig(from, named);
  return {
    uid,
    home: homeDirectory(from),
    expansions: expansionsOf(account, homeDirectory(from)),
    configPath: found?.path ?? null,
    isConfigNamed: found?.named ?? false,
    policyDirectories: policyDirectories(from),
    stateDirectory: stateDirectory(from),
    runtimeDirectory: runtimeDirectory(from),
    search: { explicit, runtimeVariable: io.env.XDG_RUNTIME_DIR, uid, stateDirectory: stateDirectory(from) },
  };
}

/** What is there and cannot be looked at is there: it must not be passed over in silence. */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function emptyAsUnset(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
