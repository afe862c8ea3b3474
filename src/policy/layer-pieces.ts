// A proven layer on its way between threads: in texts of a bounded size. A clone of the whole would be made in one go, and
// for a large layer that takes longer than others may be kept waiting.

import type { LayerPolicy } from '../core/policy.ts';
import type { ProvenLayer } from './prove-layer.ts';

/** Parsed in a fraction of a millisecond; an item that is longer goes alone. */
const PIECE_LENGTH = 64 * 1024;

/** JSON texts that putTogether() makes an equal layer of; each is made when it is asked for. */
export function* takeApart({ policy, problems, results }: ProvenLayer): Generator<string> {
  const whole = Object.entries({ ...policy, problems, results });
  const rest = Object.fromEntries(whole.filter(([, value]) => !Array.isArray(value)));
  yield JSON.stringify({ isGood: policy !== null, rest });
  for (const [name, value] of whole) if (Array.isArray(value)) yield* listPieces(name, value);
}

/** Takes one piece a step. */
export function* putTogether([head = '', ...pieces]: readonly string[]): Generator<void, ProvenLayer> {
  const { isGood, rest } = JSON.parse(head) as { readonly isGood: boolean; readonly rest: object };
  const lists = new Map<string, unknown[]>();
  for (const piece of pieces) {
    const [name, items] = JSON.parse(piece) as [string, readonly unknown[]];
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [...items]);
    else list.push(...items);
    yield;
  }
  const whole = { ...rest, ...Object.fromEntries(lists) } as unknown as LayerPolicy & Omit<ProvenLayer, 'policy'>;
  const { problems, results, ...policy } = whole;
  return { policy: isGood ? policy : null, problems, results };
}

/** An empty list makes one piece: it is there. */
function* listPieces(name: string, items: readonly unknown[]): Generator<string> {
  const piece = (texts: readonly string[]) => `[${JSON.stringify(name)},[${texts.join(',')}]]`;
  let batch: string[] = [];
  let length = 0;
  for (const item of items) {
    const text = JSON.stringify(item);
    if (length + text.length > PIECE_LENGTH && batch.length > 0) {
      yield piece(batch);
      [batch, length] = [[], 0];
    }
    batch.push(text);
    length += text.length;
  }
  yield piece(batch);
}
