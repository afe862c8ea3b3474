// Goals 18 and 19: a full path check (resolve it, find the root that holds it) against realpath(3), and against the check
// of the reference filesystem server. Ratios of one run, medians over rounds.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromSource } from './from-source.mjs';
import { median, runAlone } from './rows.mjs';

const ROUNDS = 9;
const COUNTS = [1, 100, 10_000];

export async function pathCheck() {
  const reference = new URL('../node_modules/@modelcontextprotocol/server-filesystem/dist/lib.js', import.meta.url);
  const { setAllowedDirectories, validatePath } = await import(fileURLToPath(reference));
  const { judge, boundary, walk } = await fromSource({
    judge: 'src/disk/judge.ts',
    boundary: 'src/core/boundary.ts',
    walk: 'src/disk/kernel-walk.ts',
  });
  // Six components below `/`, as a file of a project has them; the reference checks the real path of directories.
  const base = realpathSync.native(mkdtempSync(join(tmpdir(), 'rootsd-bench-')));
  const path = join(base, 'home/ana/src/app');
  mkdirSync(path, { recursive: true });
  const here = walk.kernelWalk();
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const times = { native: time(() => realpathSync.native(path)) };
    for (const count of COUNTS) {
      const roots = [...Array.from({ length: count - 1 }, (_, i) => `${base}/other/r${i}`), join(base, 'home/ana')];
      const known = boundary.createBoundary(roots);
      times[count] = time(() => judge.judgePath(path, known, { walk: here }));
      setAllowedDirectories(roots);
      times[`reference ${count}`] = await timeEach(() => validatePath(path), Math.ceil(4_000 / Math.sqrt(count)));
    }
    rounds.push(times);
  }
  rmSync(base, { recursive: true });
  const ratio = (a, b) => median(rounds.map((times) => times[a] / times[b]));
  const times = (count) => ratio(`reference ${count}`, count);
  return [
    {
      goal: 18,
      name: 'full path check / realpathSync.native',
      value: ratio(1, 'native'),
      gate: '<= 1.3',
      stretch: '<= 1.1',
    },
    { goal: 18, name: 'with 10,000 roots / with one', value: ratio(10_000, 1), gate: '<= 1.3', stretch: '<= 1.05' },
    { goal: 19, name: 'validatePath / ours, 1 root', value: times(1), gate: '>= 2.5', stretch: '>= 3.5' },
    { goal: 19, name: 'validatePath / ours, 100 roots', value: times(100), gate: '>= 12', stretch: '>= 18' },
    { goal: 19, name: 'validatePath / ours, 10,000 roots', value: times(10_000), gate: '>= 500', stretch: '>= 1000' },
  ];
}

/** Microseconds a call. */
function time(run, calls = 20_000) {
  const begin = performance.now();
  for (let i = 0; i < calls; i++) run();
  return ((performance.now() - begin) / calls) * 1_000;
}

async function timeEach(run, calls) {
  const begin = performance.now();
  for (let i = 0; i < calls; i++) await run();
  return ((performance.now() - begin) / calls) * 1_000;
}

await runAlone(import.meta.url, pathCheck);
