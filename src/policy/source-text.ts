// A file's text and the way from offsets in it to lines and columns.

import type { Position } from '../core/errors.ts';

/** Offsets [start, end) in UTF-16 units. */
export type Range = readonly [start: number, end: number];

export interface SourceText {
  readonly file: string;
  /** Without the byte-order mark. */
  readonly text: string;
  readonly lineStarts: readonly number[];
}

/** Indexes the lines of a text. A line ends at LF; a CR before it belongs to the line end. */
export function sourceText(file: string, text: string): SourceText {
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  return { file, text, lineStarts };
}

/** The 1-based line that holds an offset. */
export function lineOf(source: SourceText, offset: number): number {
  let low = 0;
  let high = source.lineStarts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((source.lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

/** Where a line's characters end, without its line break. */
export function lineEnd(source: SourceText, offset: number): number {
  const next = source.text.indexOf('\n', offset);
  const end = next === -1 ? source.text.length : next;
  return end > offset && source.text[end - 1] === '\r' ? end - 1 : end;
}

/** Lines and columns of a range. */
export function positionOf(source: SourceText, [start, end]: Range): Position {
  const line = lineOf(source, start);
  const endLine = lineOf(source, Math.max(start, end));
  return {
    file: source.file,
    line,
    column: start - (source.lineStarts[line - 1] ?? 0) + 1,
    endLine,
    endColumn: Math.max(start, end) - (source.lineStarts[endLine - 1] ?? 0) + 1,
  };
}

/** A text from a file as it may stand in a message: one line, not too long. */
export function clip(text: string, limit = 100): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}
