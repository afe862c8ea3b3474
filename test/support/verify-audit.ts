// Reads an audit as whoever doubts it would.

import { existsSync, readFileSync } from 'node:fs';
import { CHAIN_START, type ChainEnd, chainAfter, parseLink } from '../../src/state/audit-line.ts';

export type AuditVerdict =
  | { readonly ok: true; readonly lines: number }
  /** The first line that does not fit. */
  | { readonly ok: false; readonly file: string; readonly line: number; readonly why: string };

const NEWLINE = 0x0a;

/** The audit files that are there, oldest first: the order in which verifyAudit() takes them. */
export function auditFiles(path: string, keep: number): readonly string[] {
  const full = Array.from({ length: keep }, (_, i) => `${path}.${keep - i}`);
  return [...full, path].filter((file) => existsSync(file));
}

/**
 * Checks the chain of an audit, oldest file first (auditFiles()). Where the oldest lines have been put away for good the
 * chain is taken up at the first that is left. Throws the operating system's error where a file cannot be read.
 */
export function verifyAudit(paths: readonly string[]): AuditVerdict {
  let end: ChainEnd | null = null;
  let lines = 0;
  for (const file of paths) {
    let number = 0;
    for (const line of splitLines(readFileSync(file))) {
      number += 1;
      const why = faultOf(line, end);
      if (why !== null) return { ok: false, file, line: number, why };
      end = chainAfter(line.bytes, parseLink(textOf(line))?.seq ?? 0);
    }
    lines += number;
  }
  return { ok: true, lines };
}

interface Line {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

function faultOf(line: Line, end: ChainEnd | null): string | null {
  if (!line.isWhole) return 'it is cut short';
  const link = parseLink(textOf(line));
  if (link === null) return 'it is not a line of the audit';
  // The first line of all carries no digest; any other that is the first left is taken as it is.
  const expected = end ?? (link.seq === 0 ? CHAIN_START : link);
  if (link.seq !== expected.seq) return `its number is ${link.seq}, it must be ${expected.seq}`;
  return link.prev === expected.prev
    ? null
    : 'its "prev" is not the SHA-256 of the line before: one of the two was changed';
}

function textOf({ bytes }: Line): string {
  return bytes.toString();
}

function* splitLines(bytes: Buffer): Generator<Line> {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline;
    yield { bytes: bytes.subarray(start, end), isWhole: newline >= 0 };
    start = end + 1;
  }
}
