import { spawn } from 'node:child_process';
import { SYSTEM_CLOCK } from '../disk/clock.ts';

/** What asks a person, as it is started. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside our own. */
  readonly env?: Readonly<Record<string, string>>;
  /** What makes it take its question back; SIGTERM where omitted. */
  readonly stopSignal?: NodeJS.Signals;
  /** What it writes says nothing: its end counts, be it that something it has left behind still holds its output open. */
  readonly ignoresOutput?: boolean;
}

export interface ProgramEnd {
  /** null: a signal has ended it. */
  readonly status: number | null;
  /** What it has written to standard output, as far as that is short. */
  readonly output: string;
}

const MAX_OUTPUT = 1_024;
/** How long it may take its question back. Then it is killed: what it shows is open no more. */
const STOP_MS = 2_000;

/**
 * Runs a program to its end. What it starts ends with it where `signal` stops it; nobody waits for one that does not stop.
 * Rejects where it cannot be started, and with the reason of `signal`.
 */
export function runProgram(program: Program, signal: AbortSignal): Promise<ProgramEnd> {
  const { command, args, env = {}, stopSignal = 'SIGTERM', ignoresOutput = false } = program;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // A group of its own: a script that shows a dialog is stopped with its dialog.
    const child = spawn(command, args, {
      cwd: '/',
      env: { ...process.env, ...env },
      stdio: ['ignore', ignoresOutput ? 'ignore' : 'pipe', 'ignore'],
      detached: true,
    });
    const stop = (): void => {
      endGroup(child.pid, stopSignal);
      const cancel = SYSTEM_CLOCK.after(STOP_MS, () => endGroup(child.pid, 'SIGKILL'));
      child.once('exit', cancel);
      reject(signal.reason);
    };
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output = (output + chunk).slice(0, MAX_OUTPUT);
    });
    child.on('error', reject);
    child.on('close', (status) => {
      signal.removeEventListener('abort', stop);
      resolve({ status, output });
    });
    signal.addEventListener('abort', stop);
  });
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended just now.
  }
}
