// Goal 20: watching 10,000 roots against chokidar (depth 0), start and memory. Each measurement is a process of its own;
// ratios of pairs, medians over rounds. And what a whole daemon that names these roots in 100 policy files takes of a core
// while nothing happens, by the kernel's count, window by window. Takes about four minutes.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleSource, loadBundled } from './from-source.mjs';
import { makeHome, startDaemon } from './home.mjs';
import { median, overRounds, runAlone } from './rows.mjs';

const ROUNDS = 7;
const IDLE_WINDOWS = 7;
/** Longer than the sweeps are apart. */
const IDLE = { restMs: 15_000, windowMs: 20_000 };
const SHORT_IDLE = { restMs: 1_000, windowMs: 5_000 };
/** In which the kernel counts. */
const TICK_MS = 10;
/** As the units and `rootsd run` start the daemon; chokidar gets the same. */
const FLAGS = ['--expose-gc', '--max-semi-space-size=2'];
const SOURCES = {
  watch: 'src/disk/watch-roots.ts',
  sweeps: 'src/disk/sweeps.ts',
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
  const { periodS } = measure('period', base);
  const idle = await measureIdle(base, isShort ? { ...SHORT_IDLE, windows: 1 } : { ...IDLE, windows: IDLE_WINDOWS });
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
      name: `a daemon with 10,000 roots in 100 files, share of a core while nothing happens (roots swept every ${periodS.toFixed(1)} s)`,
      ...overRounds(idle, (share) => share),
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

  async period(base) {
    const watcher = (await opener(base))();
    await watcher.ready();
    // The first ones hang the watches.
    for (let i = 0; i < 3; i++) await watcher.sweep();
    const { sweeps } = await loadBundled(SOURCES);
    return { periodS: Math.max(2, (sweeps.ROOT_SWEEP_SHARE * watcher.counts().lastSweepMs) / 1_000) };
  },
};

/** What a daemon takes of a core in each window. */
async function measureIdle(base, { restMs, windowMs, windows }) {
  const home = makeHome();
  for (let i = 0; i < PARENTS; i++) home.write(policyOf(base, i), `p${i}.yaml`);
  const { daemon, stop } = await startDaemon(home, { nodeOptions: ['--max-semi-space-size=2'] });
  const shares = [];
  await delay(restMs);
  for (let i = 0; i < windows; i++) {
    const [begin, before] = [performance.now(), ticksOf(daemon.pid)];
    await delay(windowMs);
    shares.push(((ticksOf(daemon.pid) - before) * TICK_MS) / (performance.now() - begin));
  }
  await stop();
  home.remove();
  return shares;
}

function policyOf(base, parent) {
  const names = Array.from({ length: CHILDREN }, (_, i) => `p${parent}-r${i}`);
  const roots = names.map((name, i) => `  ${name}: { path: ${base}/p${parent}/r${i} }`);
  return `roots:\n${roots.join('\n')}\nrules:\n  - { id: p${parent}, allow: [${names.join(', ')}] }\n`;
}

/** Of all its threads: fields 14 and 15, counted behind the name, which may hold blanks. */
function ticksOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

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
