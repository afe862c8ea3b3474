import { escapeForTerminal } from '../core/display.ts';
import { RootsError } from '../core/errors.ts';
import { EXIT, exitStatusOf } from '../core/exit-status.ts';
import type { Io } from './io.ts';

/** The exit status of whatever was thrown: what is no error of ours is a bug. */
export function exitStatusFor(error: unknown): number {
  return error instanceof RootsError ? exitStatusOf(error.code) : EXIT.bug;
}

/** Says on standard error what went wrong and what to try; a bug with its stack. */
export function reportError(error: unknown, io: Pick<Io, 'stderr'>): void {
  if (!(error instanceof RootsError)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    io.stderr.write(
      `rootsd: this is a bug in rootsd, please report it\n${stack.split('\n').map(escapeForTerminal).join('\n')}\n`,
    );
    return;
  }
  const at = error.at === undefined ? '' : `${error.at.file}:${error.at.line}:${error.at.column}: `;
  io.stderr.write(`rootsd: ${escapeForTerminal(`${at}${error.message} [${error.code}]`)}\n`);
  if (error.hint !== undefined) io.stderr.write(`  ${escapeForTerminal(error.hint)}\n`);
}
