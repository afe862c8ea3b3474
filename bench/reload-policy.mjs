// Goals 21 and 22: a policy of 1 MB is reloaded while a peer asks for its roots all the time. What the peer waits at most,
// and what the reload takes from the end of the time that a file must have been the same, against parsing the bare text of
// that file with `yaml` on a main thread. The same for a small layer with a test of its own, below that policy. And a start with 1,000 files and 10,000 roots, against a process that only reads
// and parses the files and looks at the directories.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LineCounter, parseDocument } from 'yaml';
import { makeHome, openHome, put, startDaemon } from './home.mjs';
import { connectPeer } from './peer.mjs';
import { overRounds, runAlone } from './rows.mjs';

const ROUNDS = 9;
/** How long a file must have been the same (src/core/settling.ts). */
const STABLE_MS = 150;
const [RULES, PROJECTS] = [4_100, 1_000];
const [FILES, ROOTS_EACH] = [1_000, 10];
const SELF = fileURLToPath(import.meta.url);

export async function reloadPolicy({ rounds = ROUNDS, isShort = false } = {}) {
  const reloads = await measureReloads(rounds);
  const below = await measureReloadsBelow(rounds);
  const starts = await measureStarts(rounds, isShort ? FILES / 20 : FILES);
  console.error(
    `a reload: ${JSON.stringify(reloads[0])}, below it: ${JSON.stringify(below[0])}, a start: ${JSON.stringify(starts[0])}`,
  );
  return [
    {
      goal: 21,
      name: `${RULES} rules reloaded: longest wait of a peer / parsing them`,
      ...overRounds(reloads, ({ stallMs, parseMs }) => stallMs / parseMs),
      gate: '<= 0.10',
      stretch: '<= 0.03',
    },
    {
      goal: 21,
      name: `a small layer below ${RULES} rules reloaded: longest wait of a peer / parsing those`,
      ...overRounds(below, ({ stallMs, parseMs }) => stallMs / parseMs),
      gate: '<= 0.10',
      stretch: '<= 0.03',
    },
    {
      goal: 22,
      name: `${RULES} rules reloaded / parsing them`,
      ...overRounds(reloads, ({ reloadMs, parseMs }) => reloadMs / parseMs),
      gate: '<= 2.0',
      stretch: '<= 1.2',
    },
    {
      goal: 'start',
      name: 'start to ready with 1,000 files and 10,000 roots / reading, parsing, looking',
      ...overRounds(starts, ({ readyMs, bareMs }) => readyMs / bareMs),
      gate: '<= 3.0',
      stretch: '<= 2.0',
    },
    {
      goal: 'start',
      name: 'start to ready with 1,000 files and 10,000 roots / with half of them',
      ...overRounds(starts, ({ readyMs, halfMs }) => readyMs / halfMs),
      gate: '<= 2.2',
      stretch: '<= 2.0',
    },
  ];
}

async function measureReloads(count) {
  const home = await openHome(largePolicy(0));
  const rounds = await measureEdits(home, count, (version) => {
    const text = largePolicy(version);
    return { parse: text, save: () => home.write(text) };
  });
  await home.close();
  return rounds;
}

/** The large policy is the system's and stays as it is; the user's is edited. */
async function measureReloadsBelow(count) {
  const home = makeHome();
  const system = largePolicy(0);
  put(join(home.base, 'etc/bench.yaml'), `version: 1\n${system}`);
  home.write(smallLayer(0));
  const { stop } = await startDaemon(home);
  const rounds = await measureEdits(home, count, (version) => ({
    parse: system,
    save: () => home.write(smallLayer(version)),
  }));
  await stop();
  home.remove();
  return rounds;
}

/** Each round is another version: what is parsed for comparison, and how it is saved. */
async function measureEdits(home, count, edit) {
  for (let i = 0; i < PROJECTS; i++) mkdirSync(join(home.home, projectPath(i)), { recursive: true });
  const control = await connectPeer(home.control);
  const peer = await connectPeer(home.socket);
  await peer.request('rootsd/attach', { version: 1, server: 'server-1' });
  const rounds = [];
  // The first ones warm up both sides.
  for (let round = -2; round < count; round++) {
    const { parse, save } = edit(round + 3);
    const parseMs = timeParsing(parse);
    const asking = askAllTheTime(peer);
    const begin = performance.now();
    save();
    const { changed, problems } = await control.request('rootsd/reload', { wait: false });
    const reloadMs = performance.now() - begin - STABLE_MS;
    const stallMs = await asking.end();
    if (!changed || problems.length > 0) throw new Error(`It was not reloaded: ${problems[0]?.message}`);
    // The daemon's watcher has seen the edit as well.
    await delay(2 * STABLE_MS);
    await control.request('rootsd/reload', { wait: false });
    if (round >= 0) rounds.push({ parseMs, reloadMs, stallMs });
  }
  for (const connection of [control, peer]) connection.end();
  return rounds;
}

/** Asks for roots again and again, a millisecond apart; `end()` resolves to the longest wait. */
function askAllTheTime(peer) {
  let isOver = false;
  const asking = (async () => {
    let longest = 0;
    while (!isOver) {
      const begin = performance.now();
      await peer.request('roots/list');
      longest = Math.max(longest, performance.now() - begin);
      await delay(1);
    }
    return longest;
  })();
  return {
    end: () => {
      isOver = true;
      return asking;
    },
  };
}

async function measureStarts(count, files) {
  const homes = [files, files / 2].map(homeWith);
  const [whole, half] = homes;
  const rounds = [];
  for (let round = 0; round < count; round++) {
    const [readyMs, halfMs] = [await timeStart(whole), await timeStart(half)];
    const begin = performance.now();
    const { status, stderr } = spawnSync(process.execPath, [SELF, 'bare', dirname(whole.policy), whole.home]);
    if (status !== 0) throw new Error(String(stderr));
    rounds.push({ readyMs, halfMs, bareMs: performance.now() - begin });
  }
  for (const home of homes) home.remove();
  return rounds;
}

function homeWith(files) {
  const home = makeHome();
  for (let i = 0; i < files; i++) {
    home.write(smallPolicy(i), `f${i}.yaml`);
    for (const path of pathsOf(i)) mkdirSync(join(home.home, path), { recursive: true });
  }
  return home;
}

async function timeStart(home) {
  const { readyMs, stop } = await startDaemon(home);
  await stop();
  return readyMs;
}

/** What any program must do that knows the same at its start. */
function startBarely(directory, home) {
  for (const name of readdirSync(directory)) {
    const text = readFileSync(join(directory, name), 'utf8');
    const { roots } = parseDocument(text, { lineCounter: new LineCounter() }).toJS();
    for (const { path } of Object.values(roots)) statSync(path.replace('~', home));
  }
}

function timeParsing(text) {
  const begin = performance.now();
  parseDocument(text, { lineCounter: new LineCounter() });
  return performance.now() - begin;
}

function projectPath(i) {
  return `work/team-${i % 20}/project-${i}`;
}

/** About 1 MB; another one for each version, with the same places. */
function largePolicy(version) {
  const roots = Array.from({ length: PROJECTS }, (_, i) => [
    `  project-${i}:`,
    `    path: ~/${projectPath(i)}`,
    `    title: Project number ${i} of team ${i % 20}`,
  ]);
  const rules = Array.from({ length: RULES }, (_, i) => [
    `  - id: rule-${i}`,
    ...(i % 3 === 2
      ? [`    deny: [~/vault/team-${i % 20}/secret-${i}, ~/vault/${i}/keys]`]
      : [`    allow: [project-${i % PROJECTS}, project-${(i * 7) % PROJECTS}]`, `    servers: [server-${i % 50}]`]),
    `    reason: Rule ${i} of version ${version} was made by a machine from the list of team ${i % 20}, which is kept elsewhere`,
  ]);
  return ['roots:', ...roots.flat(), 'rules:', ...rules.flat(), ''].join('\n');
}

/** With a test, which is asked of all layers together. */
function smallLayer(version) {
  const test = '{ server: server-1, path: ~/private, expect: deny, rule: mine }';
  return `rules:\n  - { id: mine, deny: [~/private], reason: Version ${version} }\ntests:\n  - ${test}\n`;
}

function pathsOf(file) {
  return Array.from({ length: ROOTS_EACH }, (_, i) => `work/f${file}/r${i}`);
}

function smallPolicy(file) {
  const paths = pathsOf(file);
  const roots = paths.map((path, i) => `  f${file}-r${i}: { path: ~/${path} }`);
  const names = paths.map((_, i) => `f${file}-r${i}`);
  return `roots:\n${roots.join('\n')}\nrules:\n  - { id: f${file}, allow: [${names.join(', ')}], servers: [s${file}] }\n`;
}

const [, , what, directory, home] = process.argv;
if (what === 'bare') startBarely(directory, home);
else await runAlone(import.meta.url, reloadPolicy);
