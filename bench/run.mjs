// `npm run bench [NAME...] [-- --json|--strict|--docs|--short]`: one benchmark after the other, each a process of its own,
// so that none measures in the memory of another. A benchmark is a file beside this one that calls runAlone().
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { digits, formatRow, rangeOf, verdictOf } from './rows.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PAGE = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
const TABLE = /(<!-- figures -->\n)[\s\S]*(<!-- end of figures -->)/;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Lines of JSON in place of lines for people. */
    json: { type: 'boolean' },
    /** End with 1 where a gate is missed. */
    strict: { type: 'boolean' },
    /** Write the table of docs/performance.md. */
    docs: { type: 'boolean' },
    /** One round of little: it only shows that all runs. */
    short: { type: 'boolean' },
  },
});

const known = readdirSync(HERE)
  .filter(
    (file) =>
      file.endsWith('.mjs') && /^await runAlone\(|else await runAlone\(/m.test(readFileSync(HERE + file, 'utf8')),
  )
  .map((file) => file.replace(/\.mjs$/, ''));
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark "${unknown[0]}"; there are: ${known.join(', ')}`);
  process.exit(64);
}

/** Of others: a machine that was not idle must say so. */
const [loadBefore] = loadavg();
const rows = [];
const broken = [];
for (const name of positionals.length > 0 ? positionals : known) {
  console.error(`${name} ...`);
  const status = await measure(name);
  if (status !== 0) broken.push(name);
}
rows.sort((a, b) => sortKey(a) - sortKey(b));
if (options.docs) writeFileSync(PAGE, readFileSync(PAGE, 'utf8').replace(TABLE, `$1\n${table()}\n$2`));
const count = (verdict) => rows.filter((row) => verdictOf(row) === verdict).length;
const missed = rows.filter((row) => verdictOf(row) === 'MISSED');
for (const row of missed) console.error(formatRow(row));
console.error(
  `${rows.length} rows: ${count('stretch')} at the stretch mark, ${count('gate')} at the gate, ${missed.length} missed, ` +
    `${count('not compared')} not compared, ${count('shown')} only shown`,
);
for (const name of broken) console.error(`"${name}" broke: its rows are missing`);
process.exitCode = broken.length > 0 || (options.strict && missed.length > 0) ? 1 : 0;

/** Runs one and takes its rows as they come; resolves with its exit status. */
function measure(name) {
  const args = [`${HERE}${name}.mjs`, '--json', ...(options.short ? ['--short'] : [])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const row = { benchmark: name, ...JSON.parse(line) };
    rows.push(row);
    console.log(options.json ? JSON.stringify({ ...row, verdict: verdictOf(row) }) : formatRow(row));
  });
  return new Promise((resolve) => child.on('close', (status) => resolve(status)));
}

/** By number of the goal; what has none comes last. */
function sortKey({ goal }) {
  return typeof goal === 'number' ? goal : Number.POSITIVE_INFINITY;
}

/** The table of docs/performance.md. */
function table() {
  const machine = `${cpus().length} cores (${cpus()[0].model.trim()}), Node ${process.versions.node}, load average ${loadBefore.toFixed(1)} when it began`;
  const head = ['| goal | what | median | range | gate | stretch | |', '| --- | --- | --- | --- | --- | --- | --- |'];
  const lines = rows.map((row) => {
    const { goal, name, gate = '', stretch = '', notCompared } = row;
    const value = notCompared ?? digits(row.value);
    return `| ${goal} | ${name} | ${value} | ${rangeOf(row)} | ${gate} | ${stretch} | ${verdictOf(row)} |`;
  });
  return [`Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}.`, '', ...head, ...lines, ''].join('\n');
}
