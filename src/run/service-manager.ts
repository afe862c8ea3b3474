// The service manager of a user: systemd on Linux, launchd on macOS (written after its manual pages and not run there yet).

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FoundAccount } from '../disk/account.ts';

const UNIT = 'rootsd.socket';
const UNIT_DIRECTORIES = [
  '/etc/systemd/user',
  '/run/systemd/user',
  '/usr/local/lib/systemd/user',
  '/usr/lib/systemd/user',
];
/** Also the name of the agent's file. */
const LABEL = 'io.rootsd.daemon';
const MANAGER_MS = 5_000;

type Environment = Readonly<Record<string, string>>;

interface ManagerCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Environment;
}

/**
 * Has the manager start the daemon or its socket where this user has a manager and we are installed there. Resolves with
 * whether it has; signals are heard meanwhile. `env` is the manager's program's.
 */
export function startService(
  account: FoundAccount,
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  const call = platform === 'darwin' ? callOfLaunchd(account, env) : callOfSystemd(account, env);
  if (call === null) return Promise.resolve(false);
  const options = { env: call.env, cwd: '/', stdio: 'ignore', timeout: MANAGER_MS } as const;
  const manager = spawn(call.command, call.args, options);
  return new Promise((resolve) => {
    manager.once('error', () => resolve(false));
    manager.once('exit', (status) => resolve(status === 0));
  });
}

function callOfSystemd({ uid, home }: FoundAccount, env: Environment): ManagerCall | null {
  const runtime = `/run/user/${uid}`;
  const own = ['.config/systemd/user', '.local/share/systemd/user'];
  const isInstalled = isIn(UNIT, [...inHome(home, own), ...UNIT_DIRECTORIES]);
  if (!existsSync(join(runtime, 'systemd/private')) || !isInstalled) return null;
  return { command: 'systemctl', args: ['--user', 'start', UNIT], env: { ...env, XDG_RUNTIME_DIR: runtime } };
}

/** Of an agent that is not loaded launchctl says so, and we start a daemon ourselves. */
function callOfLaunchd({ uid, home }: FoundAccount, env: Environment): ManagerCall | null {
  const directories = [...inHome(home, ['Library/LaunchAgents']), '/Library/LaunchAgents'];
  if (!isIn(`${LABEL}.plist`, directories)) return null;
  return { command: 'launchctl', args: ['kickstart', `gui/${uid}/${LABEL}`], env };
}

function inHome(home: string | null, directories: readonly string[]): readonly string[] {
  return home === null ? [] : directories.map((directory) => join(home, directory));
}

function isIn(file: string, directories: readonly string[]): boolean {
  return directories.some((directory) => existsSync(join(directory, file)));
}
