// Batches (revision 2025-03-26): members are judged singly. One that passes whole passes as the bytes it was.

import type { Verdict } from './line-flow.ts';
import { elementsOf } from './splice.ts';

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']\n');

/** The members of a batch, which is valid JSON, as they stand there. */
export function membersOf(line: Buffer): readonly Buffer[] {
  return elementsOf(line, line.indexOf('['));
}

/** Judges the members of a batch; what is left of it, as one line. */
export function judgeBatch(
  line: Buffer,
  judge: (member: Buffer) => Exclude<Verdict, 'wait'>,
): Exclude<Verdict, 'wait'> {
  const judged = membersOf(line).map((member) => ({ member, verdict: judge(member) }));
  if (judged.every(({ verdict }) => verdict === 'pass')) return 'pass';
  const kept = judged.flatMap(({ member, verdict }): readonly (readonly Uint8Array[])[] => {
    if (verdict === 'drop') return [];
    return [verdict === 'pass' ? [member] : verdict];
  });
  if (kept.length === 0) return 'drop';
  return [OPEN, ...kept.flatMap((pieces, i) => (i === 0 ? pieces : [COMMA, ...pieces])), CLOSE];
}
