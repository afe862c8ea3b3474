// Every way in which a policy changes, seen by hints alone and by the sweep alone: either may be all there is.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { countedHints, flip, HINTS_ONLY, openedWatcher, replace, SWEEP_ONLY } from '../support/policy-watcher.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

/** A mounted configuration as the kubelet lays it out: the file links into `..data`, which links to a dated directory. */
const MOUNTED = ['file p/..2026_01/a.yaml one', 'link p/..data -> ..2026_01', 'link p/a.yaml -> ..data/a.yaml'];

interface Row {
  readonly what: string;
  readonly tree: readonly string[];
  readonly change: (base: string) => void;
  /** The kernel has nothing to hint this by. */
  readonly sweepOnly?: boolean;
}

const ROWS: readonly Row[] = [
  {
    what: 'a save in place',
    tree: ['file p/a.yaml one'],
    change: (base) => writeFileSync(join(base, 'p/a.yaml'), 'two'),
  },
  {
    what: 'a save in the way of vim: old name to backup, new file, backup removed',
    tree: ['file p/a.yaml one'],
    change: (base) => {
      renameSync(join(base, 'p/a.yaml'), join(base, 'p/a.yaml~'));
      writeFileSync(join(base, 'p/a.yaml'), 'two');
      rmSync(join(base, 'p/a.yaml~'));
    },
  },
  {
    what: 'sed -i',
    tree: ['file p/a.yaml one'],
    change: (base) => void execFileSync('sed', ['-i', 's/one/two/', join(base, 'p/a.yaml')]),
  },
  {
    what: 'write beside, then rename',
    tree: ['file p/a.yaml one'],
    change: (base) => replace(join(base, 'p/a.yaml'), 'two'),
  },
  {
    what: 'mv from another directory',
    tree: ['file p/a.yaml one', 'file q/a.yaml two'],
    change: (base) => void execFileSync('mv', [join(base, 'q/a.yaml'), join(base, 'p/a.yaml')]),
  },
  {
    what: 'a file added',
    tree: ['file p/a.yaml one'],
    change: (base) => makeEntry(base, 'file p/b.yaml two'),
  },
  {
    what: 'a file removed',
    tree: ['file p/a.yaml one'],
    change: (base) => rmSync(join(base, 'p/a.yaml')),
  },
  {
    what: 'a mode that changes trust',
    tree: ['file p/a.yaml one'],
    change: (base) => chmodSync(join(base, 'p/a.yaml'), 0o666),
  },
  {
    what: 'the mode of the directory',
    tree: ['file p/a.yaml one'],
    change: (base) => chmodSync(join(base, 'p'), 0o777),
  },
  {
    what: 'the mode of the directory above',
    tree: ['file up/p/a.yaml one', 'link p -> up/p'],
    change: (base) => chmodSync(join(base, 'up'), 0o777),
    sweepOnly: true,
  },
  {
    what: 'the ..data link of a mounted configuration swapped as the kubelet does it',
    tree: MOUNTED,
    change: (base) => {
      makeEntry(base, 'file p/..2026_02/a.yaml two');
      flip(join(base, 'p/..data'), '..2026_02');
      rmSync(join(base, 'p/..2026_01'), { recursive: true });
    },
  },
  {
    what: 'the ..data link swapped, the old dated directory kept',
    tree: [...MOUNTED, 'file p/..2026_02/a.yaml two'],
    change: (base) => flip(join(base, 'p/..data'), '..2026_02'),
  },
  {
    what: 'the first hop of a chain of links re-pointed',
    tree: ['link p/a.yaml -> ../h/1', 'link h/1 -> 2', 'link h/2 -> real', 'file h/real one', 'file h/other two'],
    change: (base) => flip(join(base, 'p/a.yaml'), '../h/other'),
  },
  {
    what: 'a later hop of a chain of links re-pointed',
    tree: ['link p/a.yaml -> ../h/1', 'link h/1 -> 2', 'link h/2 -> real', 'file h/real one', 'file h/other two'],
    change: (base) => flip(join(base, 'h/2'), 'other'),
    sweepOnly: true,
  },
  {
    what: 'the file behind a link edited in place',
    tree: ['link p/a.yaml -> ../h/real', 'file h/real one'],
    change: (base) => writeFileSync(join(base, 'h/real'), 'two'),
  },
  {
    what: 'the directory, a link, re-pointed',
    tree: ['link p -> 1', 'file 1/a.yaml one', 'file 2/a.yaml two'],
    change: (base) => flip(join(base, 'p'), '2'),
  },
  {
    what: 'the directory removed',
    tree: ['file p/a.yaml one'],
    change: (base) => rmSync(join(base, 'p'), { recursive: true }),
  },
  {
    what: 'the directory removed while it is empty',
    tree: ['dir p'],
    change: (base) => rmSync(join(base, 'p'), { recursive: true }),
  },
  {
    what: 'the directory removed and made again at once',
    tree: ['file p/a.yaml one'],
    change: (base) => {
      rmSync(join(base, 'p'), { recursive: true });
      makeEntry(base, 'file p/a.yaml two');
    },
  },
  {
    what: 'the directory replaced by another',
    tree: ['file p/a.yaml one', 'file q/a.yaml one'],
    change: (base) => {
      renameSync(join(base, 'p'), join(base, 'old'));
      renameSync(join(base, 'q'), join(base, 'p'));
    },
  },
  {
    what: 'the directory appearing for the first time',
    tree: [],
    change: (base) => makeEntry(base, 'file p/a.yaml one'),
  },
];

describe('openPolicyWatcher() tells, and goes on to tell', { concurrency: true }, () => {
  for (const { what, tree, change, sweepOnly } of ROWS) {
    const byHints = async (t: TestContext) => {
      const base = makeTree(t, tree);
      const directory = join(base, 'p');
      const { openHints, hinted } = countedHints();
      const watcher = openedWatcher(t, { directories: [directory], ...HINTS_ONLY, openHints });
      if (tree.length > 0) await hinted;
      change(base);
      assert.equal(await watcher.next(), directory);
      makeEntry(base, 'file p/later.yaml x');
      assert.equal(await watcher.next(), directory);
    };
    if (sweepOnly !== true) test(`by hints alone: ${what}`, byHints);
    test(`by the sweep alone: ${what}`, async (t) => {
      const base = makeTree(t, tree);
      const directory = join(base, 'p');
      const watcher = openedWatcher(t, { directories: [directory], ...SWEEP_ONLY });
      change(base);
      assert.equal(await watcher.next(), directory);
      makeEntry(base, 'file p/later.yaml x');
      assert.equal(await watcher.next(), directory);
    });
  }
});
