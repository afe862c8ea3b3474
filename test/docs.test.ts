// What the documents say is held against the code: what is made from it is up to date, examples do what they say, and the
// tests that the tables name are there.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isProblem } from '../scripts/errors-page.ts';
import { generatedFiles } from '../scripts/generated-files.ts';
import { keyedMaps } from '../scripts/key-tables.ts';
import { type Code, codes } from '../src/core/errors.ts';
import { runTests } from '../src/core/run-tests.ts';
import { failedTests } from '../src/daemon/layers.ts';
import { builtInLayer } from '../src/policy/built-in.ts';
import { parseCatalogue } from '../src/policy/read-catalogue.ts';
import { checkProject } from '../src/policy/read-project.ts';
import { ANA, compileTexts, shown } from './policy/shown-problems.ts';
import { temporaryDirectory } from './support/tree.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...filesIn('docs').filter((path) => path.endsWith('.md')),
];
const SOURCES = filesIn('src').map((path) => read(path));

function filesIn(directory: string): string[] {
  const entries = readdirSync(join(ROOT, directory), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

describe('what is made from the code', () => {
  for (const { url, text } of generatedFiles()) {
    it(`${url.pathname.slice(ROOT.length)} is what the code gives`, () => {
      assert.equal(readFileSync(url, 'utf8'), text, 'it is not up to date: "npm run docs" writes it');
    });
  }
});

for (const directory of ['docs/servers', 'docs/hosts']) {
  test(`${directory} has no page but those that are made`, () => {
    const made = generatedFiles().map(({ url }) => url.pathname.slice(ROOT.length));
    assert.deepEqual(
      filesIn(directory).filter((path) => !made.includes(path)),
      [],
    );
  });
}

describe('docs/errors.md', () => {
  const page = read('docs/errors.md');

  for (const code of Object.keys(codes()) as Code[]) {
    it(`lists ${code} once, and the code uses it`, () => {
      assert.equal(page.split(`| \`${code}\` |`).length - 1, 1);
      assert.ok(SOURCES.some((source) => source.includes(`'${code}'`)));
    });

    // A problem is one of many and ends nothing by itself: it has no exit status of its own.
    if (isProblem(code)) {
      it(`rightly calls ${code} a problem in a file: nothing is ended by it`, () => {
        assert.ok(!SOURCES.some((source) => source.includes(`new RootsError('${code}'`)));
      });
    }
  }
});

describe('docs/policy.md', () => {
  const page = read('docs/policy.md');

  for (const [map, { properties = {} }] of Object.entries(keyedMaps())) {
    it(`names every key of "${map}"`, () => {
      for (const key of Object.keys(properties)) assert.ok(page.includes(`\`${key}\``), key);
    });
  }
});

describe('examples in the documents', () => {
  for (const { page, line, kind, text } of PAGES.flatMap(yamlBlocks)) {
    it(`${page}:${line} ${kind === 'policy' ? 'is a policy without a problem, and its tests hold' : kind}`, (t) => {
      const [word = '', code = ''] = kind.split(' ');
      if (word === 'policy') assert.deepEqual(problemsOf(text), []);
      else if (word === 'wrong') assert.ok(problemsOf(text).some((problem) => problem.startsWith(`${code} `)));
      else if (word === 'project') assert.deepEqual(projectProblems(temporaryDirectory(t), text), []);
      else if (word === 'catalogue') assert.deepEqual(catalogueProblems(text), []);
      else assert.fail(`nobody knows what kind of example "${kind}" is`);
    });
  }

  for (const path of filesIn('policies')) {
    it(`${path} is a policy without a problem, and its tests hold`, () => {
      assert.deepEqual(problemsOf(read(path)), []);
    });
  }
});

interface Block {
  readonly page: string;
  readonly line: number;
  readonly kind: string;
  readonly text: string;
}

/** Blocks marked `yaml KIND`; without a kind those that are whole policies. */
function yamlBlocks(page: string): Block[] {
  const text = read(page);
  return [...text.matchAll(/^```yaml *(.*)\n([\s\S]*?)^```$/gm)].flatMap(({ 1: kind = '', 2: body = '', index }) => {
    const isWhole = /^(?:#.*\n)*version:/.test(body);
    if (kind === '' && !isWhole) return [];
    return [{ page, line: text.slice(0, index).split('\n').length, kind: kind === '' ? 'policy' : kind, text: body }];
  });
}

/** Problems of a policy, and of its tests. */
function problemsOf(text: string): string[] {
  const { policy, problems } = compileTexts({ 'a.yaml': text });
  if (policy === null) return shown(problems);
  return shown([...problems, ...failedTests(runTests([builtInLayer({ expansions: ANA, own: [] }), policy], policy))]);
}

function projectProblems(root: string, text: string): string[] {
  writeFileSync(join(root, '.rootsd.yaml'), text);
  return shown(checkProject(root));
}

function catalogueProblems(text: string): string[] {
  const read = parseCatalogue('servers.yaml', text, { expansions: ANA });
  return 'problems' in read ? shown(read.problems) : [];
}

/** A row that names no test must say why. */
const WHY_NOT =
  /^(?:Does not apply|Comes later|Comes with the part \*(?:scale and faults|run in both eras and the guard|consent|endpoint and libraries)\*)/;

for (const page of ['docs/known-faults.md', 'docs/spec-checklist.md']) {
  describe(page, () => {
    const rows = tableRows(read(page));

    it('has a row for each id once', () => {
      const ids = rows.map(({ id }) => id);
      assert.ok(ids.length > 20);
      assert.deepEqual(ids, [...new Set(ids)]);
    });

    for (const { id, shownBy } of rows) {
      it(`names tests that are there, or says why there is none: ${id}`, () => {
        const named = testsIn(shownBy);
        if (named.length === 0) assert.match(shownBy, WHY_NOT);
        for (const { file, name } of named) assert.ok(read(file).includes(name), `${file} has no "${name}"`);
      });
    }
  });
}

interface TableRow {
  readonly id: string;
  readonly shownBy: string;
}

function tableRows(page: string): TableRow[] {
  const rows = page.split('\n').filter((line) => /^\| (?!id|report|---)/.test(line));
  return rows.map((line) => {
    const [, first = '', , shownBy = ''] = line.split('|').map((cell) => cell.trim());
    return { id: /^\[(B\d+)\]/.exec(first)?.[1] ?? first, shownBy };
  });
}

/** Tests as the pages name them: the file in code marks, then words of names in quotes. */
function testsIn(cell: string): { readonly file: string; readonly name: string }[] {
  return cell.split(/(?=`test\/)/).flatMap((part) => {
    const file = /^`(test\/[\w./-]+\.test\.ts)`/.exec(part)?.[1];
    if (file === undefined) return [];
    const names = [...part.matchAll(/"([^"]+)"/g)].map(([, name = '']) => ({ file, name }));
    assert.ok(names.length > 0, `${file} stands without the name of a test`);
    return names;
  });
}

describe('links in the documents', () => {
  for (const page of PAGES) {
    it(`of ${page} lead to files of this repository`, () => {
      const targets = [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => target);
      for (const target of targets) assert.ok(existsSync(join(ROOT, page, '..', target)), `${page}: ${target}`);
    });
  }
});
