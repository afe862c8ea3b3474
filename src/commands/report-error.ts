import { escapeForTerminal } from '../core/display.ts';
import { CODES, type Code, RootsError } from '../core/errors.ts';
import { EXIT, type Io } from './io.ts';

/** The exit status of an error: who has to act (STYLE, Errors). */
export function exitStatusOf(error: unknown): number {
  if (!(error instanceof RootsError)) return EXIT.bug;
  return EXIT_BY_CODE[error.code] ?? EXIT_BY_KIND[CODES[error.code].kind];
}

const EXIT_BY_KIND = {
  usage: EXIT.usage,
  file: EXIT.configuration,
  place: EXIT.configuration,
  peer: EXIT.notPermitted,
  temporary: EXIT.tryAgain,
  bug: EXIT.bug,
} as const;

const EXIT_BY_CODE: Readonly<Partial<Record<Code, number>>> = {
  DAEMON_UNREACHABLE: EXIT.unreachable,
  POLICY_BROKEN: EXIT.no,
};

/** Says on standard error what went wrong and what to try; a bug with its stack. */
export function reportError(error: unknown, io: Pick<Io, 'stderr'>): void {
  if (!(error instanceof RootsError)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    io.stderr.write(`rootsd: this is a bug in rootsd, please report it\n${stack}\n`);
    return;
  }
  const at = error.at === undefined ? '' : `${error.at.file}:${error.at.line}:${error.at.column}: `;
  io.stderr.write(`rootsd: ${escapeForTerminal(`${at}${error.message} [${error.code}]`)}\n`);
  if (error.hint !== undefined) io.stderr.write(`  ${escapeForTerminal(error.hint)}\n`);
}
