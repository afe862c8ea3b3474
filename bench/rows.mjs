// What every benchmark gives: rows `{goal, name, value, gate, stretch}` with ratios as values. A gate is `<= 1.3` or `>= 5`.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function meets(value, bound) {
  const [, sign, limit] = /^(<=|>=) ([\d.]+)$/.exec(bound);
  return sign === '<=' ? value <= Number(limit) : value >= Number(limit);
}

export function printRows(rows) {
  for (const { goal, name, value, gate, stretch } of rows) {
    const verdict = meets(value, gate) ? (meets(value, stretch) ? 'stretch' : 'gate') : 'MISSES';
    console.log(
      `${String(goal).padStart(4)}  ${verdict.padEnd(8)}${value.toPrecision(3).padStart(9)}  (${gate}, stretch ${stretch})  ${name}`,
    );
  }
}

/** Prints the rows where the module is run by itself. */
export async function runAlone(moduleUrl, rows) {
  const { pathToFileURL } = await import('node:url');
  if (process.argv[1] !== undefined && moduleUrl === pathToFileURL(process.argv[1]).href) printRows(await rows());
}
