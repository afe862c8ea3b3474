// Imports go one way (ARCHITECTURE.md). This table is read against the real imports of src/, type-only ones too.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

interface Row {
  /** A folder of src/, or a file that stands in src/ itself. */
  readonly from: string;
  /** Folders and single files that it may import, besides itself. */
  readonly may: readonly string[];
  /** Single files of these that it may not import. */
  readonly mayNot?: readonly string[];
  /** Builtins of Node that it may import; all where omitted. */
  readonly builtins?: readonly string[];
  readonly why: string;
}

const LOG = 'system/log.ts';

const ROWS: readonly Row[] = [
  {
    from: 'main.ts',
    may: ['commands/cli.ts'],
    builtins: [],
    why: 'it only starts a command and ends with its status; bin/rootsd starts `run` without it',
  },
  { from: 'version.ts', may: [], builtins: [], why: 'a word that the build puts in' },
  {
    from: 'commands',
    may: ['daemon', 'client', 'policy', 'state', 'socket', 'ask', 'system', 'disk', 'core', 'version.ts'],
    why: 'commands wire the parts; `run` is not one of them, it branches off in bin/rootsd',
  },
  {
    from: 'daemon',
    may: ['policy', 'state', 'socket', 'ask', 'mcp', 'system', 'disk', 'core', 'version.ts'],
    why: 'all wiring of the running parts is in one place',
  },
  { from: 'policy', may: ['disk', 'core', LOG], why: 'the parts do not know each other: the daemon passes things on' },
  { from: 'state', may: ['disk', 'core', LOG], why: 'the parts do not know each other: the daemon passes things on' },
  { from: 'socket', may: ['disk', 'core', LOG], why: 'the parts do not know each other: the daemon passes things on' },
  { from: 'mcp', may: ['disk', 'core', LOG], why: 'the parts do not know each other: the daemon passes things on' },
  { from: 'ask', may: ['disk', 'core', LOG], why: 'the parts do not know each other: the daemon passes things on' },
  { from: 'system', may: ['disk', 'core'], why: 'the parts do not know each other: the daemon passes things on' },
  {
    from: 'run',
    may: ['client', 'disk', 'core', 'version.ts'],
    mayNot: ['disk/native.ts'],
    why: 'it stands in front of every server and loads next to nothing: no YAML, no schema, no koffi',
  },
  {
    from: 'lib',
    may: ['client', 'disk', 'core'],
    mayNot: ['disk/native.ts'],
    why: 'it runs inside programs of others: no SDK but theirs, no koffi, nothing of the daemon',
  },
  { from: 'client', may: ['core'], why: '`run`, commands and the libraries share it' },
  { from: 'disk', may: ['core'], why: 'the disk is asked, it does not ask' },
  {
    from: 'core',
    may: [],
    builtins: ['node:path'],
    why: 'it is pure: no I/O, no clock, no randomness, no logging, no global state',
  },
];

interface PackageRow {
  readonly name: string;
  /** The files or folders that may import it. */
  readonly by: readonly string[];
  readonly why: string;
}

const PACKAGES: readonly PackageRow[] = [
  { name: 'koffi', by: ['disk/native.ts'], why: 'optional and dangerous: one file with a fallback for each use' },
  { name: 'winston', by: ['system/log.ts'], why: 'everything else knows only the type Log' },
  { name: 'chokidar', by: ['policy/watch-hints.ts'], why: 'it hints; the sweep beside it decides' },
  { name: 'yaml', by: ['policy', 'run/edit-list.ts'], why: 'nothing else reads or edits YAML' },
  { name: 'jsonc-parser', by: ['run/edit-list.ts'], why: 'settings of servers are edited there, loaded where needed' },
  { name: 'smol-toml', by: ['run/edit-list.ts'], why: 'settings of servers are edited there, loaded where needed' },
  { name: 'ajv', by: ['policy'], why: 'nothing else validates' },
  { name: 'fastest-levenshtein', by: ['policy'], why: 'the nearest valid key or name is said where a file is checked' },
  { name: '@babel/code-frame', by: ['policy'], why: 'code frames are shown for files that operators write' },
  { name: '@modelcontextprotocol/server', by: ['mcp'], why: 'the daemon loads it when the first MCP client comes' },
  {
    name: '@modelcontextprotocol/server/stdio',
    by: ['mcp'],
    why: 'the daemon loads it when the first MCP client comes',
  },
  { name: 'commander', by: ['commands/cli.ts'], why: 'commands get their options parsed' },
];

interface Import {
  /** Below src/. */
  readonly file: string;
  readonly specifier: string;
  /** Below src/ where it is one of ours. */
  readonly target: string | null;
}

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const STATIC = /^(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?\s*'([^']+)'/gm;
const DYNAMIC = /\bimport\(\s*(?:'([^']+)'\s*\))?/g;
const COMMENT = /^\s*\/\/.*$|\/\*[\s\S]*?\*\//gm;

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(SRC, file), 'utf8').replace(COMMENT, '');
  const found = [...text.matchAll(STATIC), ...text.matchAll(DYNAMIC)];
  return found.map(([statement, specifier]) => {
    assert.ok(specifier !== undefined, `${file}: cannot tell what "${statement}…" imports: name it in single quotes`);
    const target = specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : null;
    return { file, specifier, target };
  });
}

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => relative('.', file))
  .sort();
const IMPORTS = FILES.flatMap(importsOf);

function isIn(file: string, place: string): boolean {
  return file === place || file.startsWith(`${place}/`);
}

function rowOf(file: string): Row | undefined {
  return ROWS.find(({ from }) => isIn(file, from));
}

test('every file of src/ belongs to a row of the import table', () => {
  assert.deepEqual(
    FILES.filter((file) => rowOf(file) === undefined),
    [],
  );
});

test('every row of the import table names something real', () => {
  const folders = ROWS.flatMap(({ from, may, mayNot = [] }) => [from, ...may, ...mayNot]);
  const named = [...folders, ...PACKAGES.flatMap(({ by }) => by)];
  assert.deepEqual(
    named.filter((place) => !existsSync(join(SRC, place))),
    [],
  );
  const unused = PACKAGES.flatMap(({ name, by }) =>
    by.filter((place) => !IMPORTS.some(({ file, specifier }) => specifier === name && isIn(file, place))),
  );
  assert.deepEqual(unused, [], 'places that do not import what they may');
});

test('the imports between folders go one way', () => {
  const wrong = IMPORTS.flatMap(({ file, target }) => {
    const row = rowOf(file);
    if (target === null || row === undefined || isIn(target, row.from)) return [];
    const { may, mayNot = [], from, why } = row;
    const allowed = may.some((place) => isIn(target, place)) && !mayNot.includes(target);
    return allowed ? [] : [`${file} imports ${target}: ${from} may import ${may.join(', ') || 'nothing'}, for ${why}`];
  });
  assert.deepEqual(wrong, []);
});

test('no file imports itself by way of others', () => {
  // What imports nothing that is left is taken away, until nothing is left or only circles are.
  const left = new Map(FILES.map((file) => [file, new Set<string>()]));
  for (const { file, target } of IMPORTS) if (target !== null && left.has(target)) left.get(file)?.add(target);
  for (let before = 0; before !== left.size; ) {
    before = left.size;
    for (const [file, targets] of left) {
      if ([...targets].every((target) => !left.has(target))) left.delete(file);
    }
  }
  assert.deepEqual([...left.keys()], []);
});

test('builtins of Node are imported where they may be, by their full names', () => {
  const wrong = IMPORTS.flatMap(({ file, specifier }) => {
    const { builtins, from = '', why = '' } = rowOf(file) ?? {};
    if (!specifier.startsWith('node:') || builtins === undefined || builtins.includes(specifier)) return [];
    return [`${file} imports ${specifier}: ${from} may import ${builtins.join(', ') || 'none'}, for ${why}`];
  });
  assert.deepEqual(wrong, []);
});

test('core takes only the posix half of node:path, which asks nobody', () => {
  const wrong = FILES.filter((file) => isIn(file, 'core')).filter((file) => {
    const [statement] = /^import .*'node:path'/m.exec(readFileSync(join(SRC, file), 'utf8')) ?? [];
    return statement !== undefined && statement !== "import { posix } from 'node:path'";
  });
  assert.deepEqual(wrong, []);
});

test('core asks neither the clock nor chance nor the process', () => {
  const impure = /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\.|\bconsole\.|\bsetTimeout\b|\bperformance\./;
  const wrong = FILES.filter((file) => isIn(file, 'core')).filter((file) =>
    impure.test(readFileSync(join(SRC, file), 'utf8').replace(COMMENT, '')),
  );
  assert.deepEqual(wrong, []);
});

test('packages are imported where they may be', () => {
  const wrong = IMPORTS.flatMap(({ file, specifier, target }) => {
    if (target !== null || specifier.startsWith('node:')) return [];
    const row = PACKAGES.find(({ name }) => name === specifier);
    if (row?.by.some((place) => isIn(file, place))) return [];
    return [
      `${file} imports ${specifier}: ${row ? `only ${row.by.join(', ')} may, for ${row.why}` : 'not in the table'}`,
    ];
  });
  assert.deepEqual(wrong, []);
});

test('importsOf() sees every form of an import', () => {
  const rows: [string, string[]][] = [
    ["import { a } from './a.ts';", ['./a.ts']],
    ["import type { A } from './a.ts';", ['./a.ts']],
    ["import {\n  a,\n  b,\n} from './a.ts';", ['./a.ts']],
    ["import './a.ts';", ['./a.ts']],
    ["import a, * as b from 'a';", ['a']],
    ["export { a } from './a.ts';", ['./a.ts']],
    ["export * from './a.ts';", ['./a.ts']],
    ["const { a } = await import('./a.ts');", ['./a.ts']],
    ["let a: import('./a.ts').A;", ['./a.ts']],
    ["// import { a } from './a.ts';", []],
    ["export const text = 'from';\nconst b = 'c';", []],
  ];
  for (const [text, expected] of rows) {
    const uncommented = text.replace(COMMENT, '');
    const found = [...uncommented.matchAll(STATIC), ...uncommented.matchAll(DYNAMIC)].map(([, specifier]) => specifier);
    assert.deepEqual(found, expected, text);
  }
});
