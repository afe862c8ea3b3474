// What every benchmark gives: rows `{goal, name, value, range, gate, stretch}` with ratios as values. A gate is `<= 1.3` or
// `>= 5`; a row without one is only shown. Where a comparator is missing, `notCompared` says why in place of a value.
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The median of a ratio over the rounds, and between what it lay: the machine is another one in each round. */
export function overRounds(rounds, ratio) {
  const ratios = rounds.map(ratio);
  return { value: median(ratios), range: [Math.min(...ratios), Math.max(...ratios)] };
}

export function meets(value, bound) {
  const [, sign, limit] = /^(<=|>=) ([\d.]+)$/.exec(bound);
  return sign === '<=' ? value <= Number(limit) : value >= Number(limit);
}

/** `stretch`, `gate`, `MISSED`, `shown` (nothing to meet) or `not compared`. */
export function verdictOf({ value, gate, stretch, notCompared }) {
  if (notCompared !== undefined) return 'not compared';
  if (gate === undefined) return 'shown';
  if (!meets(value, gate)) return 'MISSED';
  return stretch !== undefined && meets(value, stretch) ? 'stretch' : 'gate';
}

/** One line for people. */
export function formatRow(row) {
  const [goal, verdict] = [String(row.goal).padStart(5), verdictOf(row).padEnd(12)];
  if (row.notCompared !== undefined) return `${goal}  ${verdict}  ${row.name}: ${row.notCompared}`;
  const { gate = '-', stretch = '-' } = row;
  return `${goal}  ${verdict}  ${digits(row.value).padStart(8)} ${rangeOf(row).padEnd(17)} gate ${gate}, stretch ${stretch}  ${row.name}`;
}

/** `0.31-0.38`, or nothing where a benchmark gives no range. */
export function rangeOf({ range }) {
  return range === undefined ? '' : range.map(digits).join('-');
}

export function digits(value) {
  return value >= 1_000 ? value.toFixed(0) : value.toPrecision(3);
}

/**
 * Measures and prints where the module is run by itself; `--short` is one round of little, to see that it runs, and
 * `--json` a line of JSON a row.
 */
export async function runAlone(moduleUrl, measure) {
  if (process.argv[1] === undefined || moduleUrl !== pathToFileURL(process.argv[1]).href) return;
  const { values } = parseArgs({ options: { short: { type: 'boolean' }, json: { type: 'boolean' } } });
  const rows = await measure(values.short ? { isShort: true, rounds: 1 } : {});
  for (const row of rows) console.log(values.json ? JSON.stringify(row) : formatRow(row));
}
