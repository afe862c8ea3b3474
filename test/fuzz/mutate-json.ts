// JSON that stays JSON: it gets past the parser, and what reads its values is tried.
import type { Random } from './random.ts';

const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -0.5,
  1e300,
  2 ** 53,
  '',
  'a',
  '/',
  '/home/ana/../x',
  '\u0000',
  '\ud800',
  '\u202e',
  'x'.repeat(300),
  [],
  {},
  [[]],
  { a: { b: [1] } },
  '2.0',
  'rootsd/attach',
  'roots/list',
  '__proto__',
];

/** The text with one value replaced, taken out, doubled or moved; as it was where it is no JSON. */
export function mutateJson(text: string, random: Random): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  return `${JSON.stringify(change(value, random))}\n`;
}

function change(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.oneIn(6)) return random.pick(ODD);
  const entries = Object.entries(value);
  const at = random.below(entries.length + 1);
  const [key = random.pick(['id', 'params', 'version', 'x', 'roots', 'uri']), inner = random.pick(ODD)] =
    entries[at] ?? [];
  switch (random.below(6)) {
    case 0:
      entries.splice(at, 1);
      break;
    case 1:
      entries.push([random.pick(['id', 'method', 'params', 'result', key]), random.pick(ODD)]);
      break;
    default:
      entries.splice(at, 1, [key, change(inner, random)]);
  }
  return Array.isArray(value) ? entries.map(([, one]) => one) : Object.fromEntries(entries);
}
