// Goal 20: watching 10,000 roots against chokidar (depth 0), start and memory; and what idling costs then. Each measurement
// is a process of its own; ratios of pairs, medians over rounds. Takes about two minutes.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleSource, loadBundled } from './from-source.mjs';
import { median, overRounds, runAlone } from './rows.mjs';

const ROUNDS = 7;
/** Longer than the sweeps are apart. */
const IDLE_MS = 60_000;
const SHORT_IDLE_MS = 10_000;
/** As the units and `rootsd run` start the daemon; chokidar gets the same. */
const FLAGS = ['--expose-gc', '--max-semi-space-size=2'];
const SOURCES = {
  watch: 'src/disk/watch-roots.ts',
  native: 'src/disk/native.ts',
  walk: 'src/disk/kernel-walk.ts',
  pattern: 'src/core/pattern.ts',
};
const SELF = fileURLToPath(import.meta.url);
const [PARENTS, CHILDREN] = [100, 100];

export async function watchRoots({ rounds = ROUNDS, isShort = false } = {}) {
  const base = mkdtempSync(join(tmpdir(), 'rootsd-bench-'));
  for (const path of pathsIn(base)) {
    mkdirSync(path, { recursive: true });
    for (const name of ['a', 'b', 'c']) writeFileSync(join(path, name), '');
  }
  // Not in the processes that are measured: a bundler leaves work behind.
  await bundleSource(SOURCES);
  const pairs = Array.from({ length: rounds }, () => ({
    ours: measure('ours', base),
    theirs: measure('chokidar', base),
  }));
  const idle = measure('idle', base, isShort ? SHORT_IDLE_MS : IDLE_MS);
  rmSync(base, { recursive: true });
  const ratio = (key) => overRounds(pairs, ({ ours, theirs }) => ours[key] / theirs[key]);
  console.error(
    `ours: ${JSON.stringify(pairs[0].ours)}, chokidar: ${JSON.stringify(pairs[0].theirs)}, idle: ${JSON.stringify(idle)}`,
  );
  return [
    { goal: 20, name: '10,000 roots, start / chokidar', ...ratio('startMs'), gate: '<= 0.06', stretch: '<= 0.01' },
    {
      goal: 20,
      name: '10,000 roots, processor time of the start / chokidar',
      ...ratio('cpuMs'),
      gate: '<= 0.06',
      stretch: '<= 0.01',
    },
    { goal: 20, name: '10,000 roots, memory / chokidar', ...ratio('rssMiB'), gate: '<= 0.10', stretch: '<= 0.01' },
    {
      goal: 'idle',
      name: `10,000 roots, share of a core while nothing happens (a sweep every ${idle.periodS.toFixed(0)} s)`,
      value: idle.share,
      gate: '<= 0.01',
      stretch: '<= 0.005',
    },
    {
      goal: 'start',
      name: '10,000 roots, start to ready, ms',
      value: median(pairs.map(({ ours }) => ours.startMs)),
      gate: '<= 500',
      stretch: '<= 200',
    },
    {
      goal: 'start',
      name: '10,000 roots, longest stall of the first look, ms',
      value: median(pairs.map(({ ours }) => ours.stallMs)),
      gate: '<= 100',
      stretch: '<= 20',
    },
  ];
}

function measure(what, base, ...more) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [...FLAGS, SELF, what, base, ...more.map(String)]);
  if (status !== 0) throw new Error(`${what} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

function pathsIn(base) {
  const rows = Array.from({ length: PARENTS }, (_, i) => `${base}/p${i}`);
  return rows.flatMap((row) => Array.from({ length: CHILDREN }, (_, i) => `${row}/r${i}`));
}

function rssMiB() {
  globalThis.gc();
  return process.memoryUsage.rss() / 2 ** 20;
}

const MEASURES = {
  async chokidar(base) {
    const { watch } = await import('chokidar');
    const paths = pathsIn(base);
    const before = rssMiB();
    const spent = stopwatch();
    const watcher = watch(paths, { depth: 0 });
    await new Promise((resolve) => watcher.once('ready', resolve));
    return { ...spent(), rssMiB: rssMiB() - before };
  },

  async ours(base) {
    const open = await opener(base);
    const before = rssMiB();
    const stall = longestStall();
    const spent = stopwatch();
    const watcher = open();
    await watcher.ready();
    const start = { ...spent(), stallMs: stall(), watched: watcher.counts().watched };
    // Each root and each parent has its watch, as with chokidar.
    if (start.watched !== PARENTS * CHILDREN + PARENTS) throw new Error(`Only ${start.watched} watches`);
    return { ...start, rssMiB: rssMiB() - before };
  },

  async idle(base, idleMs) {
    const watcher = (await opener(base))();
    await watcher.ready();
    await watcher.sweep();
    await watcher.sweep();
    const before = process.cpuUsage();
    const { sweeps } = watcher.counts();
    await new Promise((resolve) => setTimeout(resolve, Number(idleMs)));
    const { user, system } = process.cpuUsage(before);
    const periodS = idleMs / 1_000 / Math.max(1, watcher.counts().sweeps - sweeps);
    return { share: (user + system) / 1_000 / Number(idleMs), periodS };
  },
};

async function opener(base) {
  const { watch, native, walk, pattern } = await loadBundled(SOURCES);
  const nobody = { home: '/home/nobody', user: 'nobody', uid: 65534, hostname: 'here' };
  const source = { layer: 'user', file: 'bench.yaml', line: 1, column: 1 };
  const declarations = pathsIn(base).map((path, i) => ({
    name: `r${i}`,
    path: pattern.parsePolicyPath(path, nobody, { stars: false }).pattern,
    having: [],
    kind: 'directory',
    symlinks: 'inside',
    nested: 'withhold',
    sensitive: false,
    source,
  }));
  const calls = await native.openNative();
  return () =>
    watch.openRootWatcher({
      declarations,
      patterns: [],
      readProject: () => undefined,
      onChange: () => {},
      onWarning: (warning) => console.error(String(warning)),
      isPatient: true,
      walk: walk.kernelWalk(calls?.openat2NoMagicLinks),
      ...(calls === null ? {} : { mountsChanged: calls.mountsChanged }),
    });
}

function stopwatch() {
  const [begin, before] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { startMs: performance.now() - begin, cpuMs: (user + system) / 1_000 };
  };
}

function longestStall() {
  let [longest, last] = [0, performance.now()];
  const timer = setInterval(() => {
    const now = performance.now();
    [longest, last] = [Math.max(longest, now - last - 1), now];
  }, 1);
  return () => {
    clearInterval(timer);
    return longest;
  };
}

const [, , what, base, ...more] = process.argv;
if (what in MEASURES) {
  console.log(JSON.stringify(await MEASURES[what](base, ...more)));
  process.exit();
} else await runAlone(import.meta.url, watchRoots);
