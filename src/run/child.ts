import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ByteSink, ByteSource } from './bytes.ts';
import { type ChildStdio, openChildStdio, type StdioKind } from './child-stdio.ts';
import type { Launch } from './launch.ts';
import { identifyProcess, type ProcessIdentity } from './processes.ts';

/** How a process ended: by itself with a status, or by a signal. */
export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The command could not be started. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  /** 127: not found, 126: found, but not executable. */
  readonly status: 126 | 127;

  constructor(command: string, cause: NodeJS.ErrnoException) {
    const isMissing = cause.code === 'ENOENT' || cause.code === 'ENOTDIR' || isNowhere(command, cause);
    const where = command.includes('/') ? '' : ` in PATH "${process.env.PATH ?? ''}"`;
    const what = isMissing ? `it was not found${where}` : `it cannot be executed (${cause.code ?? cause.message})`;
    super(`Cannot start "${command}": ${what}`, { cause });
    this.status = isMissing ? 127 : 126;
  }
}

/** execvp(3) says EACCES too where a directory of PATH cannot be searched, though the command is in none of the others. */
function isNowhere(command: string, { code }: NodeJS.ErrnoException): boolean {
  if (code !== 'EACCES' || command.includes('/')) return false;
  return !isInPath(command);
}

function isInPath(command: string): boolean {
  return (process.env.PATH ?? '').split(':').some((directory) => existsSync(join(directory, command)));
}

export interface Child {
  readonly source: ByteSource;
  readonly sink: ByteSink;
  /** null where the system does not tell (no /proc). */
  readonly identity: ProcessIdentity | null;
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
}

export interface StartOptions {
  readonly stdio: StdioKind;
  /** What the kernel sends the server when we die. */
  readonly deathSignal?: NodeJS.Signals;
}

/**
 * Starts the server: standard error and process group are ours, so are environment and directory as far as the launch
 * says nothing else; nothing is read by a shell.
 * Rejects with a CommandFailure or a RootsError STDIO_FAILED.
 */
export async function startChild(launch: Launch, { stdio: kind, deathSignal }: StartOptions): Promise<Child> {
  const started = deathSignal === undefined ? launch : withDeathSignal(launch, deathSignal);
  const [command = ''] = started.argv;
  const stdio = await openChildStdio(kind);
  try {
    return await spawnChild(started, stdio);
  } catch (error) {
    stdio.source.close();
    void stdio.sink.end();
    throw new CommandFailure(command, error as NodeJS.ErrnoException);
  } finally {
    stdio.releaseFar();
  }
}

/** setpriv(1) asks the kernel for the signal, and becomes the server: its process is the same. Only Linux has it. */
function withDeathSignal(launch: Launch, signal: NodeJS.Signals): Launch {
  const [command = ''] = launch.argv;
  const isThere = command.includes('/')
    ? existsSync(launch.cwd === null ? command : resolve(launch.cwd, command))
    : isInPath(command);
  if (!isThere) throw new CommandFailure(command, Object.assign(new Error(), { code: 'ENOENT' }));
  return { ...launch, argv: ['setpriv', '--pdeathsig', signal, '--', ...launch.argv] };
}

function spawnChild({ argv, env, cwd }: Launch, stdio: ChildStdio): Promise<Child> {
  const [command = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    // spawn() itself throws for what never reaches the system: a NUL character, arguments too long.
    const child: ChildProcess = spawn(command, args, {
      stdio: [stdio.far[0], stdio.far[1], 'inherit'],
      env: { ...process.env, ...env },
      ...(cwd === null ? {} : { cwd }),
    });
    const ended = new Promise<Ended>((resolveEnded) => {
      child.once('exit', (status, signal) => resolveEnded({ status, signal }));
    });
    child.once('error', reject);
    child.once('spawn', () => {
      const identity = child.pid === undefined ? null : identifyProcess(child.pid);
      const { source, sink } = stdio;
      resolve({ source, sink, identity, ended, kill: (signal) => void child.kill(signal) });
    });
  });
}
