// New inputs from known ones: bytes changed, taken out, doubled, moved, words put in, two inputs joined.
import { mutateJson } from './mutate-json.ts';
import type { Random } from './random.ts';

export interface Material {
  readonly corpus: readonly Buffer[];
  /** Words that mean something to what reads the input. */
  readonly words: readonly Buffer[];
}

/** Longer inputs find little that shorter ones do not, and take longer. */
const MAX_BYTES = 4_096;
const EDGES = [
  0x00, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x25, 0x2e, 0x2f, 0x3a, 0x5c, 0x7b, 0x7f, 0x80, 0xc3, 0xed, 0xf0, 0xff,
];

/** An input that nobody has seen, from one of the corpus. */
export function mutate(material: Material, random: Random): Buffer {
  let bytes = random.pick(material.corpus);
  for (let steps = 1 + random.below(random.oneIn(4) ? 16 : 4); steps > 0; steps -= 1) {
    bytes = random.pick(STEPS)(bytes, material, random);
  }
  return bytes.subarray(0, MAX_BYTES);
}

type Step = (bytes: Buffer, material: Material, random: Random) => Buffer;

const STEPS: readonly Step[] = [
  (bytes, _, random) => replace(bytes, random.below(bytes.length + 1), 1, Buffer.of(random.below(256))),
  (bytes, _, random) => replace(bytes, random.below(bytes.length + 1), 1, Buffer.of(random.pick(EDGES))),
  (bytes, _, random) => replace(bytes, random.below(bytes.length + 1), 0, Buffer.of(random.pick(EDGES))),
  (bytes, _, random) => replace(bytes, random.below(bytes.length + 1), 1 + random.below(16), Buffer.of()),
  (bytes, { words }, random) => replace(bytes, random.below(bytes.length + 1), 0, random.pick(words)),
  (bytes, { words }, random) => replace(bytes, random.below(bytes.length + 1), random.below(12), random.pick(words)),
  (bytes, _, random) => Buffer.from(mutateJson(bytes.toString(), random)),
  doubled,
  joined,
  swappedLines,
];

/** A piece once more, or many times. */
function doubled(bytes: Buffer, _: Material, random: Random): Buffer {
  const start = random.below(bytes.length + 1);
  const piece = bytes.subarray(start, start + 1 + random.below(32));
  const times = random.oneIn(8) ? 200 : 1;
  return replace(bytes, start, 0, Buffer.concat(Array(times).fill(piece)).subarray(0, MAX_BYTES));
}

function joined(bytes: Buffer, { corpus }: Material, random: Random): Buffer {
  const other = random.pick(corpus);
  return Buffer.concat([
    bytes.subarray(0, random.below(bytes.length + 1)),
    other.subarray(random.below(other.length + 1)),
  ]);
}

function swappedLines(bytes: Buffer, _: Material, random: Random): Buffer {
  const lines = bytes.toString('latin1').split('\n');
  const [a, b] = [random.below(lines.length), random.below(lines.length)];
  [lines[a], lines[b]] = [lines[b] ?? '', lines[a] ?? ''];
  return Buffer.from(lines.join('\n'), 'latin1');
}

function replace(bytes: Buffer, start: number, length: number, by: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, start), by, bytes.subarray(start + length)]);
}
