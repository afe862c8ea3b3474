// Problems for people: the line that editors and terminals understand, the lines of the file, what to try.

import { escapeForTerminal } from '../core/display.ts';
import type { Problem } from '../core/errors.ts';

export interface FormatOptions {
  /** The text of the problem's file; undefined: no code frame. */
  readonly text?: string | undefined;
  readonly color?: boolean;
}

const LINES_AROUND = 2;
/** A line of a minified file says nothing past this, and fills the terminal. */
const MAX_LINE = 200;

/** `FILE:LINE:COL: severity: message [CODE]`, then a code frame and a hint. */
export async function formatProblem(problem: Problem, { text, color = false }: FormatOptions = {}): Promise<string> {
  const { hint } = problem;
  const frame = text === undefined || isAboutWholeFile(problem) ? [] : [await codeFrame(problem, text, color)];
  const advice = hint === undefined ? [] : [`  hint: ${escapeForTerminal(hint)}`];
  return [problemLine(problem), ...frame, ...advice].join('\n');
}

function isAboutWholeFile({ line, column, endLine, endColumn }: Problem): boolean {
  return line === 1 && column === 1 && endLine === 1 && endColumn === 1;
}

/** `FILE:LINE:COL: severity: message [CODE]`, escaped for the terminal. */
export function problemLine({ file, line, column, severity, message, code }: Problem): string {
  return `${escapeForTerminal(file)}:${line}:${column}: ${severity}: ${escapeForTerminal(message)} [${code}]`;
}

async function codeFrame(problem: Problem, text: string, color: boolean): Promise<string> {
  const { codeFrameColumns } = await import('@babel/code-frame');
  const first = Math.max(1, problem.line - LINES_AROUND);
  const source = linesOf(text);
  const shown = source.slice(0, problem.line + LINES_AROUND).map((line, i) => (i + 1 < first ? '' : line));
  const marked = source[problem.line - 1] ?? '';
  const isShort = problem.column <= MAX_LINE;
  const start = { line: problem.line, column: isShort ? columnIn(marked, problem.column) : 0 };
  const endColumn = problem.endLine === problem.line ? problem.endColumn : marked.length + 1;
  const end = { line: problem.line, column: Math.max(start.column + 1, columnIn(marked, endColumn)) };
  const location = isShort ? { start, end } : { start: { line: problem.line } };
  return codeFrameColumns(shown.map((line) => escapeForTerminal(line.slice(0, MAX_LINE))).join('\n'), location, {
    linesAbove: LINES_AROUND,
    linesBelow: LINES_AROUND,
    forceColor: color,
    highlightCode: false,
  });
}

/** Lines as the positions count them: without the byte-order mark, ended by LF or CRLF. */
function linesOf(text: string): string[] {
  return text.replace(/^\ufeff/, '').split(/\r?\n/);
}

/** Where a column of a line stands once the line is escaped. */
function columnIn(line: string, column: number): number {
  return escapeForTerminal(line.slice(0, Math.min(column - 1, MAX_LINE))).length + 1;
}
