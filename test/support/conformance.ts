// The official conformance suite: its releases, what docs/conformance.md says of their scenarios, and a run of one of them.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { outcomeOf } from './serve.ts';
import { temporaryDirectory } from './tree.ts';

const PAGE = new URL('../../docs/conformance.md', import.meta.url);

export interface Scenario {
  readonly name: string;
  /** As the page names it; `–`: nothing. */
  readonly against: string;
  /** Checks that do not apply. */
  readonly excused: readonly string[];
}

/** The scenarios in the table below a heading. A row without a name goes on with the one before. */
export function scenariosBelow(heading: string): readonly Scenario[] {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split(`\n## ${heading}\n`);
  const [table = ''] = section.split('\n## ');
  const scenarios: Scenario[] = [];
  for (const [, name = '', against = '', checks = '', why = ''] of table.matchAll(ROW)) {
    assert.equal(checks !== '', why !== '', `${name}: what does not apply stands there with its reason`);
    assert.equal(against === '–', checks === 'all', name);
    const excused = [...checks.matchAll(/`([^`]+)`/g)].map(([, id = '']) => id);
    const last = scenarios.at(-1);
    if (name !== '') scenarios.push({ name: name.slice(1, -1), against, excused });
    else if (last !== undefined) scenarios.splice(-1, 1, { ...last, excused: [...last.excused, ...excused] });
  }
  return scenarios;
}

const ROW = /^\| (`[^`]+`|) ?\| ([^|]*?) ?\| ([^|]*?) ?\| ([^|]*?) ?\|$/gm;

export class Suite {
  readonly #script: string;
  readonly #directory: string;

  /** `name`: of the package. As one file: a module of it wants what `node:fs` has since Node 22, for a part that is not run here. */
  static async open(t: Pick<TestContext, 'after'>, name: string): Promise<Suite> {
    const directory = temporaryDirectory(t);
    const outfile = join(directory, 'suite.cjs');
    const entry = createRequire(import.meta.url).resolve(`${name}/dist/index.js`);
    const define = { 'import.meta.url': JSON.stringify(pathToFileURL(entry).href) };
    const bundle = { bundle: true, platform: 'node', format: 'cjs', define, logLevel: 'error' } as const;
    await build({ entryPoints: [entry], outfile, ...bundle });
    return new Suite(outfile, directory);
  }

  private constructor(script: string, directory: string) {
    this.#script = script;
    this.#directory = directory;
  }

  /** All scenarios for servers, with the revisions that each is for. */
  scenarios(): readonly { readonly name: string; readonly revisions: string }[] {
    const listed = execFileSync(process.execPath, [this.#script, 'list', '--server'], { encoding: 'utf8' });
    return [...listed.matchAll(/^ +- (\S+) \[(.+)\]$/gm)].map(([, name = '', revisions = '']) => ({ name, revisions }));
  }

  /** The checks of a scenario that have not passed, and why. */
  async failures(
    name: string,
    url: string,
    revision: string,
  ): Promise<readonly { readonly id: string; readonly why: string }[]> {
    const results = join(this.#directory, `results-${name}`);
    const how = ['--scenario', name, '--spec-version', revision, '--output-dir', results];
    const child = spawn(process.execPath, [this.#script, 'server', '--url', url, ...how], { cwd: this.#directory });
    const { out, err } = await outcomeOf(child);
    const [run] = readdirSync(results, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.json'));
    assert.ok(run !== undefined, `${name}: ${out}${err}`);
    const checks = JSON.parse(readFileSync(join(results, run), 'utf8')) as readonly Check[];
    assert.ok(
      checks.some(({ status }) => status === 'SUCCESS'),
      `${name} has not run: ${out}${err}`,
    );
    return checks
      .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
      .map(({ id, errorMessage }) => ({ id, why: errorMessage ?? '' }));
  }
}

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}
