import { escapeForTerminal } from '../core/display.ts';
import type { Problem } from '../core/errors.ts';

/** `FILE:LINE:COL: severity: message [CODE]`, the first line of a problem in human format. */
export function problemLine({ file, line, column, severity, message, code }: Problem): string {
  return escapeForTerminal(`${file}:${line}:${column}: ${severity}: ${message} [${code}]`);
}
