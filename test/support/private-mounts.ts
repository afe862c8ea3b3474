import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Why a test that mounts something cannot run here, or false. */
export function needsMounts(): string | false {
  if (process.getuid?.() !== 0) return 'must be root to mount';
  const tried = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']);
  return tried.status === 0 ? false : 'needs a mount namespace of its own (unshare -m) in which it may mount';
}

/** Runs a script of this directory where nobody else sees what it mounts, and returns the JSON that it prints. */
export function runWithPrivateMounts<T>(script: string, args: readonly string[]): T {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const command = ['-m', process.execPath, '--import', 'tsx', file, ...args];
  const { status, stdout, stderr } = spawnSync('unshare', command, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The script ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as T;
}
