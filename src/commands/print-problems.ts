import { escapeForTerminal } from '../core/display.ts';
import type { Problem } from '../core/errors.ts';
import { problemLine } from '../policy/format-problem.ts';
import { type Io, printLine } from './io.ts';

/** Each problem in a line, its hint below it. */
export function printProblems(problems: readonly Problem[], io: Io): void {
  for (const problem of problems) {
    printLine(io, problemLine(problem));
    if (problem.hint !== undefined) printLine(io, `  hint: ${escapeForTerminal(problem.hint)}`);
  }
}
