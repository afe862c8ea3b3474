// The benchmarks in their short form: that they run and print what they promise. How fast anything is they say on a quiet
// machine (docs/performance.md).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { formatRow, overRounds, verdictOf } from '../../bench/rows.mjs';
import { type Outcome, outcomeOf } from '../support/serve.ts';

const RUN = fileURLToPath(new URL('../../bench/run.mjs', import.meta.url));

function bench(...args: readonly string[]): Promise<Outcome> {
  return outcomeOf(spawn(process.execPath, [RUN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }));
}

interface Row {
  readonly goal: number | string;
  readonly verdict: string;
  readonly value?: number;
  readonly range?: readonly number[];
  readonly gate?: string;
}

function rowsOf(out: string): readonly Row[] {
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

describe('npm run bench', () => {
  it('gives a row for each goal that it was asked for, with its median, range, gate and verdict', async () => {
    const { status, out, err } = await bench(
      '--short',
      '--json',
      'edit-to-effect',
      'start-run',
      'serve-roots',
      'bridge',
    );
    assert.equal(status, 0, err);
    const rows = rowsOf(out);
    assert.deepEqual(
      rows.map(({ goal }) => goal),
      [17, 17, 1, 1, 2, 3, 4, 14, 14, 15, 16, 5, 6, 6, 7, 8, 8, 9, 9, 10, 10, 11, 12, 13, 'guard', '-', '-'],
    );
    for (const { goal, verdict, value, range, gate } of rows) {
      if (goal !== '-') assert.match(gate ?? '', /^[<>]= [\d.]+$/);
      if (verdict === 'not compared') continue;
      assert.ok(value !== undefined && value > 0 && Number.isFinite(value));
      assert.equal(range?.length, 2);
    }
    assert.match(
      err,
      /27 rows: \d+ at the stretch mark, \d+ at the gate, \d+ missed, \d+ not compared, \d only shown\n$/,
    );
  });

  it('compares completion with a bare readdir, and says what a client takes', async () => {
    const { status, out, err } = await bench('--short', '--json', 'complete');
    assert.equal(status, 0, err);
    const rows = rowsOf(out);
    assert.deepEqual(
      rows.map(({ gate }) => gate),
      [undefined, undefined, '<= 3', '<= 0.1', undefined],
    );
    for (const { value } of rows) assert.ok(value !== undefined && Number.isFinite(value));
  });

  it('knows no benchmark of another name', async () => {
    const { status, err } = await bench('nothing');
    assert.equal(status, 64);
    assert.match(err, /There is no benchmark "nothing"; there are: bridge, complete, edit-to-effect, .*start-run/);
  });
});

describe('a row', () => {
  it('holds the median of the rounds and between what they lay', () => {
    const rounds = [
      { a: 2, b: 1 },
      { a: 9, b: 3 },
      { a: 4, b: 4 },
      { a: 50, b: 2 },
    ];
    assert.deepEqual(
      overRounds(rounds, ({ a, b }) => a / b),
      { value: 2.5, range: [1, 25] },
    );
  });

  // A gate is met at its bound; a stretch mark counts only where the gate is met.
  for (const [value, gate, stretch, verdict] of [
    [1.3, '<= 1.3', '<= 1.1', 'gate'],
    [1.31, '<= 1.3', '<= 1.1', 'MISSED'],
    [1.1, '<= 1.3', '<= 1.1', 'stretch'],
    [2.4, '>= 2.5', '>= 3', 'MISSED'],
    [2.5, '>= 2.5', '>= 3', 'gate'],
    [3, '>= 2.5', '>= 3', 'stretch'],
  ] as const) {
    it(`of ${value} with gate ${gate} and stretch ${stretch}: ${verdict}`, () => {
      assert.equal(verdictOf({ value, gate, stretch }), verdict);
    });
  }

  it('without a comparator says why', () => {
    const row = { goal: 6, name: 'round trip', gate: '<= 1.5', notCompared: 'no C compiler' };
    assert.match(formatRow(row), /6 {2}not compared {2}round trip: no C compiler/);
  });
});
