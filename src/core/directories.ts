// Where things live. Three kinds of program look in three ways:
//
//   serve    honours the user's variables and those that a service manager sets (`$STATE_DIRECTORY` …)
//   command  honours the user's variables
//   run      and a daemon that it starts: the home of the user database and nothing else. Their environment may come from
//            a file of a repository, which must not choose the policy.
//
// Directories that are not absolute paths are as if not set (XDG base directory specification).

import { posix } from 'node:path';

export interface Surroundings {
  readonly kind: 'serve' | 'command' | 'run';
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly uid: number;
  /** Of the user database (disk/account.ts), not `$HOME`. */
  readonly home: string;
  readonly exists: (path: string) => boolean;
}

export const CONFIG_NAME = 'rootsd.yaml';
const SYSTEM_DIRECTORY = '/etc/rootsd';

/** What `~` means. */
export function homeDirectory(from: Surroundings): string {
  return userVariable(from, 'HOME') ?? from.home;
}

/** A configuration file that was named must be there; one that was found by rule may be absent. */
export interface ConfigPlace {
  readonly path: string;
  readonly named: boolean;
}

/** The configuration file to read, or null where there is none: every setting has a default. */
export function findConfig(from: Surroundings, option?: string): ConfigPlace | null {
  const variable = from.kind === 'run' ? undefined : from.env.ROOTSD_CONFIG;
  const named = option ?? (variable === '' ? undefined : variable);
  if (named !== undefined) return { path: named, named: true };
  const path = configCandidates(from).find((candidate) => from.exists(candidate));
  return path === undefined ? null : { path, named: false };
}

/** Where a configuration file is looked for, the first found is the one. */
export function configCandidates(from: Surroundings): readonly string[] {
  const directories = [serviceVariable(from, 'CONFIGURATION_DIRECTORY'), userConfigDirectory(from), SYSTEM_DIRECTORY];
  return directories.filter((it) => it !== undefined).map((directory) => posix.join(directory, CONFIG_NAME));
}

export interface PolicyDirectories {
  readonly system: string;
  readonly user: string;
}

/** Where policies lie unless `layers` in the configuration says otherwise. */
export function policyDirectories(from: Surroundings): PolicyDirectories {
  return {
    system: posix.join(SYSTEM_DIRECTORY, 'policies.d'),
    user: posix.join(userConfigDirectory(from), 'policies.d'),
  };
}

/** What outlives us: last good layers, consents, audit. */
export function stateDirectory(from: Surroundings): string {
  const state = userVariable(from, 'XDG_STATE_HOME') ?? posix.join(homeDirectory(from), '.local/state');
  return serviceVariable(from, 'STATE_DIRECTORY') ?? posix.join(state, 'rootsd');
}

/**
 * Where `serve` puts its sockets. `/run/user/<uid>` is found from the uid too: hosts start servers with almost no
 * environment, and both ends must meet.
 */
export function runtimeDirectory(from: Surroundings): string {
  const service = serviceVariable(from, 'RUNTIME_DIRECTORY');
  if (service !== undefined) return service;
  const perUser = [userVariable(from, 'XDG_RUNTIME_DIR'), `/run/user/${from.uid}`];
  const found = perUser.find((directory) => directory !== undefined && from.exists(directory));
  return found === undefined ? posix.join(stateDirectory(from), 'run') : posix.join(found, 'rootsd');
}

function userConfigDirectory(from: Surroundings): string {
  return posix.join(userVariable(from, 'XDG_CONFIG_HOME') ?? posix.join(homeDirectory(from), '.config'), 'rootsd');
}

function userVariable({ kind, env }: Surroundings, name: string): string | undefined {
  return kind === 'run' ? undefined : absolute(env[name]);
}

/** systemd gives several directories with colons between; the first is ours. */
function serviceVariable({ kind, env }: Surroundings, name: string): string | undefined {
  return kind === 'serve' ? absolute(env[name]?.split(':')[0]) : undefined;
}

function absolute(value: string | undefined): string | undefined {
  return value?.startsWith('/') ? value : undefined;
}
