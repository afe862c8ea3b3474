import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import type { RootsError } from '../../src/core/errors.ts';
import { type OpenHints, openHints as openKernelHints } from '../../src/policy/watch-hints.ts';
import { openPolicyWatcher, type PolicyWatcherOptions } from '../../src/policy/watch-policies.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

/** What is seen of a change. With hints alone no sweep falls into a test; without hints the sweep is all there is. */
const HINTS_ONLY = { sweepMs: 2 ** 31 - 1 };
const SWEEP_ONLY = { sweepMs: 20, openHints: (() => ({ close() {} })) as OpenHints };

type Options = Partial<PolicyWatcherOptions> & Pick<PolicyWatcherOptions, 'directories'>;

/** A watcher whose changes come one by one: `next()` waits for one that was not asked for yet. */
function openedWatcher(t: TestContext, options: Options) {
  const told: string[] = [];
  const warnings: RootsError[] = [];
  let wake = () => {};
  const watcher = openPolicyWatcher({
    onChange: (path) => {
      told.push(path);
      wake();
    },
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  t.after(() => watcher.close());
  const next = async (): Promise<string | undefined> => {
    if (told.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return told.shift();
  };
  return { ...watcher, next, told, warnings };
}

function replace(path: string, content: string): void {
  writeFileSync(`${path}.tmp`, content);
  renameSync(`${path}.tmp`, path);
}

/** As `ln -sfn` and the kubelet do it. */
function flip(path: string, target: string): void {
  symlinkSync(target, `${path}_tmp`);
  renameSync(`${path}_tmp`, path);
}

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

test('openPolicyWatcher() tells every one of many saves', async (t) => {
  const base = makeTree(t, ['file p/a.yaml 0']);
  const directory = join(base, 'p');
  const watcher = openedWatcher(t, { directories: [directory], ...HINTS_ONLY });
  for (let i = 1; i <= 10; i++) {
    replace(join(directory, 'a.yaml'), `${i}`);
    assert.equal(await watcher.next(), directory, `save ${i}`);
  }
  assert.deepEqual(watcher.told, []);
});

test('openPolicyWatcher() tells a burst of saves once, after the last', async (t) => {
  const base = makeTree(t, ['file p/a.yaml 0']);
  const path = join(base, 'p/a.yaml');
  const read: string[] = [];
  const watcher = openedWatcher(t, { directories: [join(base, 'p')], ...HINTS_ONLY });
  for (let i = 1; i <= 200; i++) replace(path, `${i}`);
  await watcher.next();
  read.push(readFileSync(path, 'utf8'));
  makeEntry(base, 'file p/b.yaml x');
  await watcher.next();
  assert.deepEqual([read, watcher.told], [['200'], []]);
});

test('openPolicyWatcher() names the directory or the file that changed and no other', async (t) => {
  const base = makeTree(t, [
    'file system/a.yaml x',
    'file user/a.yaml x',
    'file conf/rootsd.yaml x',
    'file conf/other x',
  ]);
  const [system = '', user = '', config = ''] = ['system', 'user', 'conf/rootsd.yaml'].map((it) => join(base, it));
  const watcher = openedWatcher(t, { directories: [system, user], files: [config], ...HINTS_ONLY });
  for (const [path, expected] of [
    ['user/a.yaml', user],
    ['system/a.yaml', system],
    ['conf/rootsd.yaml', config],
    ['user/b.yaml', user],
  ] as const) {
    writeFileSync(join(base, 'conf/other'), path);
    replace(join(base, path), 'changed');
    assert.equal(await watcher.next(), expected);
  }
});

test('openPolicyWatcher() sees a directory appear whose parents are missing too', async (t) => {
  const base = makeTree(t, []);
  const directory = join(base, 'config/rootsd/policies.d');
  const watcher = openedWatcher(t, { directories: [directory], ...HINTS_ONLY });
  makeEntry(base, 'dir config');
  makeEntry(base, 'dir config/rootsd');
  makeEntry(base, 'file config/rootsd/policies.d/a.yaml x');
  assert.equal(await watcher.next(), directory);
});

test('sweep() looks at once', async (t) => {
  const base = makeTree(t, ['file p/a.yaml one']);
  const watcher = openedWatcher(t, { directories: [join(base, 'p')], ...SWEEP_ONLY, ...HINTS_ONLY });
  replace(join(base, 'p/a.yaml'), 'two');
  watcher.sweep();
  assert.equal(await watcher.next(), join(base, 'p'));
});

test('retry() names a directory again that could not be read, though nothing has changed', async (t) => {
  const base = makeTree(t, ['file p/a.yaml one']);
  const directory = join(base, 'p');
  const watcher = openedWatcher(t, { directories: [directory], ...SWEEP_ONLY });
  replace(join(directory, 'a.yaml'), 'two');
  await watcher.next();
  watcher.retry(directory);
  assert.equal(await watcher.next(), directory);
});

test('close() ends all, also in onChange()', async (t) => {
  const base = makeTree(t, ['file p/a.yaml one']);
  const directory = join(base, 'p');
  const watcher = openedWatcher(t, { directories: [directory], sweepMs: 20 });
  replace(join(directory, 'a.yaml'), 'two');
  await watcher.next();
  watcher.close();
  replace(join(directory, 'a.yaml'), 'three');
  const other = openedWatcher(t, { directories: [directory], ...SWEEP_ONLY });
  replace(join(directory, 'a.yaml'), 'four');
  await other.next();
  assert.deepEqual(watcher.told, []);
});

test('openPolicyWatcher() takes one watch for each directory and each entry, and gives all back', async (t) => {
  if (process.platform !== 'linux') return t.skip('needs /proc');
  const base = makeTree(t, ['dir p']);
  for (let i = 0; i < 500; i++) writeFileSync(join(base, `p/${i}.yaml`), 'x');
  const before = inotifyWatches();
  const { openHints, hinted } = countedHints();
  const watcher = openedWatcher(t, { directories: [join(base, 'p')], ...HINTS_ONLY, openHints });
  await hinted;
  assert.ok(inotifyWatches() - before <= 502);
  replace(join(base, 'p/250.yaml'), 'changed');
  await watcher.next();
  watcher.close();
  assert.equal(inotifyWatches(), before);
});

test('openPolicyWatcher() that runs out of watches says so once and goes on by the sweep', async (t) => {
  if (process.platform !== 'linux') return t.skip('needs inotify');
  const base = makeTree(t, ['file p/a.yaml one', 'file q/a.yaml one']);
  const module = JSON.stringify(new URL('../../src/policy/watch-policies.ts', import.meta.url).href);
  const program = `
    import { openPolicyWatcher } from ${module};
    import { writeFileSync } from 'node:fs';
    const [p, q] = ${JSON.stringify([join(base, 'p'), join(base, 'q')])};
    const say = (what) => process.stdout.write(JSON.stringify(what) + '\\n');
    const watcher = openPolicyWatcher({
      directories: [p, q],
      sweepMs: 20,
      onWarning: ({ code, message }) => say({ code, message }),
      onChange: (path) => {
        say({ changed: path });
        watcher.close();
      },
    });
    setTimeout(() => writeFileSync(q + '/a.yaml', 'two'), 200);`;
  const limited = `echo 0 > /proc/sys/user/max_inotify_watches && exec "$0" --import tsx --input-type=module --eval "$1"`;
  const child = spawn('unshare', ['--user', '--map-root-user', 'sh', '-c', limited, process.execPath, program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  if (/unshare failed|Permission denied|Read-only/.test(errors)) return t.skip('needs user namespaces');
  assert.equal(status, 0, errors);
  const lines = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(lines.length, 2, output);
  assert.equal(lines[0].code, 'WATCH_LIMIT');
  assert.match(lines[0].message, /the limit fs\.inotify\.max_user_watches is \d+ and used up/);
  assert.deepEqual(lines[1], { changed: join(base, 'q') });
});

/** The kernel's hints, and a promise of the first: chokidar is ready then. */
function countedHints() {
  let ready = () => {};
  const hinted = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const openHints: OpenHints = (place, handlers) =>
    openKernelHints(place, {
      ...handlers,
      onHint: () => {
        ready();
        handlers.onHint();
      },
    });
  return { openHints, hinted };
}

/** How many inotify watches this process has. */
function inotifyWatches(): number {
  return readdirSync('/proc/self/fdinfo')
    .map((fd) => {
      try {
        return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
      } catch {
        return '';
      }
    })
    .reduce((sum, info) => sum + (info.match(/^inotify /gm)?.length ?? 0), 0);
}
