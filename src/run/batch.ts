// Batches (revision 2025-03-26): members are judged singly. One that passes whole passes as the bytes it was.

import type { Verdict } from './line-flow.ts';
import { elementsOf } from './splice.ts';

/** Judges the members of a batch; what is left of it, as one line. */
export function judgeBatch(
  line: Buffer,
  judge: (member: Buffer) => Exclude<Verdict, 'wait'>,
): Exclude<Verdict, 'wait'> {
  const text = line.toString('latin1');
  const members = elementsOf(text, text.indexOf('['));
  const judged = members.map((member) => {
    const verdict = judge(Buffer.from(member, 'latin1'));
    if (verdict === 'pass') return { changed: false, text: member };
    return { changed: true, text: verdict === 'drop' ? null : Buffer.from(verdict).toString('latin1') };
  });
  if (!judged.some(({ changed }) => changed)) return 'pass';
  const kept = judged.flatMap(({ text: member }) => member ?? []);
  return kept.length === 0 ? 'drop' : Buffer.from(`[${kept.join(',')}]\n`, 'latin1');
}
