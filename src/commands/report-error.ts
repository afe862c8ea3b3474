import { escapeForTerminal } from '../core/display.ts';
import { RootsError } from '../core/errors.ts';
import { EXIT, exitStatusOf } from '../core/exit-status.ts';
import type { Io } from './io.ts';

/** The exit status of whatever was thrown: what is no error of ours, and not the system's, is a bug. */
export function exitStatusFor(thrown: unknown): number {
  const error = named(thrown);
  return error === null ? EXIT.bug : exitStatusOf(error.code);
}

/** Says on standard error what went wrong and what to try; a bug with its stack. */
export function reportError(thrown: unknown, io: Pick<Io, 'stderr'>): void {
  const error = named(thrown);
  if (error === null) {
    const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    const lines = stack.split('\n').map(escapeForTerminal);
    io.stderr.write(`rootsd: this is a bug in rootsd, please report it\n${lines.join('\n')}\n`);
    return;
  }
  const at = error.at === undefined ? '' : `${error.at.file}:${error.at.line}:${error.at.column}: `;
  io.stderr.write(`rootsd: ${escapeForTerminal(`${at}${error.message} [${error.code}]`)}\n`);
  if (error.hint !== undefined) io.stderr.write(`  ${escapeForTerminal(error.hint)}\n`);
}

/** Errors that pass by themselves or when somebody makes room. */
const PASSING = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'EBUSY']);

/** An error of ours; one of the system (a directory that may not be written, a full disk) as one; null for a bug. */
function named(thrown: unknown): RootsError | null {
  if (thrown instanceof RootsError) return thrown;
  if (!(thrown instanceof Error) || !('syscall' in thrown) || !('code' in thrown)) return null;
  const path = 'path' in thrown ? String(thrown.path) : 'a file';
  const params = { what: String(thrown.syscall), path, errno: String(thrown.code) };
  return new RootsError(PASSING.has(params.errno) ? 'SYSTEM_BUSY' : 'SYSTEM_REFUSED', params, { cause: thrown });
}
