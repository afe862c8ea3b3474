import assert from 'node:assert/strict';
import { closeSync, mkdirSync, openSync, renameSync, symlinkSync } from 'node:fs';
import { describe, it } from 'node:test';
import { patternPath } from '../../src/core/pattern.ts';
import { runAtOnce } from '../../src/core/steps.ts';
import { errnoFailure } from '../../src/disk/failure.ts';
import { type KernelWalk, kernelWalk } from '../../src/disk/kernel-walk.ts';
import { MAX_ENTRIES, resolvePattern } from '../../src/disk/resolve-pattern.ts';
import { FakeClock } from '../support/clock.ts';
import { pattern, Watching } from '../support/root-watcher.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';

function formsOf(text: string): readonly string[] {
  const { forms } = runAtOnce(resolvePattern(pattern(text), kernelWalk()));
  return [...new Set([...forms.values()].map(patternPath))].sort();
}

describe('resolvePattern()', () => {
  it('finds the real places of a path where they differ from what is written', (t) => {
    const base = makeTree(t, [
      'dir real/sub',
      'link link -> real',
      'link chain -> link/sub',
      'link new -> real/later/x',
      'link loop -> loop',
      'dir home/ana/.ssh',
      'dir home/.hidden',
      'link home/bob -> ../real/bob',
      'dir real/bob',
      'dir vault/keys',
      'dir home/cleo',
      'link home/cleo/.ssh -> ../../vault/keys',
      'link home/dora -> ../no/dora',
      'file home/file x',
      'link homes -> home',
    ]);
    const rows: readonly (readonly [written: string, forms: readonly string[]])[] = [
      ['/real', []],
      ['/real/no', []],
      ['/link', ['/real']],
      ['/link/sub/no', ['/real/sub/no']],
      ['/chain', ['/real/sub']],
      // Where a create would land.
      ['/new', ['/real/later/x']],
      ['/loop', []],
      // Links among the matches of a star, and behind them.
      ['/home/*', ['/no/dora', '/real/bob']],
      ['/home/*/.ssh', ['/no/dora/.ssh', '/real/bob/.ssh', '/vault/keys']],
      ['/home/*/.ssh/*', ['/no/dora/.ssh/*', '/real/bob/.ssh/*', '/vault/keys/*']],
      // A link before the star, then one behind it.
      ['/homes/*', ['/home/*', '/no/dora', '/real/bob']],
      ['/homes/**', ['/home']],
      ['/*/bob', ['/real/bob', '/real/later/x/bob', '/real/sub/bob']],
      ['/no/*', []],
      ['/real/sub/*', []],
    ];
    for (const [written, forms] of rows) {
      assert.deepEqual(
        formsOf(base + written),
        forms.map((form) => base + form),
        written,
      );
    }
  });

  it('looks at 10,000 entries and no more', (t) => {
    const base = temporaryDirectory(t);
    mkdirSync(`${base}/many`);
    for (let i = 0; i <= MAX_ENTRIES; i++) closeSync(openSync(`${base}/many/${i}`, 'w'));
    const found = runAtOnce(resolvePattern(pattern(`${base}/many/*`), kernelWalk()));
    assert.equal(found.isCutOff, true);
    assert.equal(runAtOnce(resolvePattern(pattern(`${base}/*`), kernelWalk())).isCutOff, false);
  });
});

describe('openRootWatcher()', () => {
  it('knows the forms of all patterns before it returns, and keeps them true', async (t) => {
    const base = makeTree(t, ['dir v1', 'dir v2', 'link secret -> v1', 'dir all', 'link all/x -> ../v2']);
    const patterns = [pattern(`${base}/secret`), pattern(`${base}/all/*`), pattern(`${base}/v1`)];
    const watching = new Watching(t, { clock: new FakeClock(), patterns });
    assert.deepEqual(watching.resolved(), { [`${base}/secret`]: [`${base}/v1`], [`${base}/all/*`]: [`${base}/v2`] });
    symlinkSync('v2', `${base}/secret.new`);
    renameSync(`${base}/secret.new`, `${base}/secret`);
    await watching.watcher.sweep();
    assert.deepEqual(watching.resolved()[`${base}/secret`], [`${base}/v2`]);
    assert.equal(watching.changes, 1);
  });

  it('keeps the forms it knows while a device does not answer', async (t) => {
    const base = makeTree(t, ['dir v1', 'link secret -> v1']);
    let broken = false;
    const plain = kernelWalk();
    const walk: KernelWalk = { ...plain, reach: (path) => (broken ? errnoFailure('EIO') : plain.reach(path)) };
    const watching = new Watching(t, { clock: new FakeClock(), walk, patterns: [pattern(`${base}/secret`)] });
    broken = true;
    await watching.watcher.sweep();
    assert.deepEqual(watching.resolved(), { [`${base}/secret`]: [`${base}/v1`] });
    assert.equal(watching.changes, 0);
  });

  it('warns once of a pattern with too many matches', async (t) => {
    const base = temporaryDirectory(t);
    for (let i = 0; i <= MAX_ENTRIES; i++) closeSync(openSync(`${base}/${i}`, 'w'));
    const watching = new Watching(t, { clock: new FakeClock(), patterns: [pattern(`${base}/*`)] });
    await watching.watcher.sweep();
    await watching.watcher.sweep();
    assert.deepEqual(
      watching.warnings.map(({ code }) => code),
      ['PATTERN_TOO_WIDE'],
    );
  });
});
