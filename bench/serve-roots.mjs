// Goals 14 to 16: a thousand sessions on one socket against an SDK 1.x `Client` per connection: requests a second, memory,
// and how long a change takes until every peer holds the new list. The peers are one process in C that costs next to
// nothing; ours is the daemon. Ratios of pairs, medians over rounds. Takes about two minutes.
//
// The change is one that the daemon need not wait for, as it does until a saved policy has been the same for a while: a root is
// a link, and the link is replaced by one to another directory. It begins before the rename, so what it takes to hear of
// that, to look at the disk and to decide anew is counted for ours; the SDK's list is in its memory.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compile, NO_COMPILER } from './compile.mjs';
import { makeHome, startDaemon } from './home.mjs';
import { digits, median, overRounds, runAlone } from './rows.mjs';

const ROUNDS = 9;
const PEERS = 1_000;
/** Requests that wait for their answer at a time. */
const OUTSTANDING = 32;
const LOAD_MS = 1_500;
const CHANGES = 9;
const GOALS = {
  perSecond: { goal: 14, name: '1,000 sessions, requests a second / SDK 1.x', gate: '>= 2.0', stretch: '>= 2.6' },
  p99Us: { goal: 14, name: '1,000 sessions, 99th percentile / SDK 1.x', gate: '<= 0.5', stretch: '<= 0.25' },
  kibEach: { goal: 15, name: '1,000 sessions, memory of each / SDK 1.x', gate: '<= 0.45', stretch: '<= 0.25' },
  fanOutMs: {
    goal: 16,
    name: 'a change until each of 1,000 watching sessions holds it / SDK 1.x, notify and fetch again',
    gate: '<= 0.45',
    stretch: '<= 0.20',
  },
};
/** How each server is started, and what peers speak with it. */
const SERVERS = {
  ours: { start: startOurs, speaks: 'rootsd' },
  sdk: { start: startSdk, speaks: 'mcp' },
};
/** Of both: the first is how the units and `rootsd run` start the daemon. */
const NODE_OPTIONS = ['--max-semi-space-size=2', '--expose-gc', '--import', here('memory-probe.mjs')];
const POLICY = `roots: { frontend: { path: ~/frontend }, backend: { path: ~/backend }, current: { path: ~/current } }
rules: [{ id: work, allow: [frontend, backend, current], servers: [filesystem] }]
`;
/** What the root `current` is in turn. */
const TARGETS = ['docs', 'tools'];

export async function serveRoots({ rounds: count = ROUNDS, isShort = false } = {}) {
  const compiled = compile('peers');
  if (compiled === null) return Object.values(GOALS).map((goal) => ({ ...goal, notCompared: NO_COMPILER }));
  const home = openTree();
  const rounds = [];
  try {
    for (let round = 0; round < count; round++) {
      const measured = {};
      // Whoever is first has the colder machine.
      for (const what of round % 2 === 0 ? ['ours', 'sdk'] : ['sdk', 'ours']) {
        const place = { ...SERVERS[what], home, peers: compiled.peers };
        const load = await measureLoad(place, isShort ? 100 : LOAD_MS);
        measured[what] = { ...load, fanOutMs: await measureFanOut(place, isShort ? 1 : CHANGES) };
      }
      rounds.push(measured);
    }
  } finally {
    home.remove();
    compiled.remove();
  }
  for (const what of Object.keys(SERVERS)) console.error(`${what}: ${describe(rounds.map((round) => round[what]))}`);
  return Object.entries(GOALS).map(([key, goal]) => ({
    ...goal,
    ...overRounds(rounds, ({ ours, sdk }) => ours[key] / sdk[key]),
  }));
}

/** Medians, for people. */
function describe(measured) {
  const medians = Object.keys(GOALS).map((key) => `${key} ${digits(median(measured.map((one) => one[key])))}`);
  return medians.join(', ');
}

async function measureLoad(place, loadMs) {
  const server = await place.start(place.home);
  const before = await server.rss();
  const peers = startPeers(server, place, OUTSTANDING, loadMs);
  await peers.line();
  const after = await server.rss();
  peers.begin();
  const [perSecond, p99Us] = (await peers.line()).split(' ').map(Number);
  await server.close();
  return { perSecond, p99Us, kibEach: (after - before) / 1_024 / PEERS };
}

/** Milliseconds from a change to the last peer, the median of several changes. */
async function measureFanOut(place, changes) {
  const server = await place.start(place.home);
  const peers = startPeers(server, place, 'fan-out', changes);
  const times = [];
  for (let i = 0; i < changes; i++) {
    await peers.line();
    peers.begin();
    const begun = await server.change();
    times.push(Number(BigInt(await peers.line()) - BigInt(begun)) / 1e6);
  }
  await server.close();
  return median(times);
}

/** A home with the directories that both tell. */
function openTree() {
  const home = makeHome();
  home.write(POLICY);
  for (const name of ['frontend', 'backend', ...TARGETS]) mkdirSync(join(home.home, name));
  symlinkSync(TARGETS[0], join(home.home, 'current'));
  return home;
}

async function startOurs(home) {
  const { daemon, stop } = await startDaemon(home, { nodeOptions: NODE_OPTIONS, ipc: true });
  return {
    path: home.socket,
    rss: () => ask(daemon, 'rss'),
    async change() {
      const [link, next] = ['current', 'next'].map((name) => join(home.home, name));
      symlinkSync(
        TARGETS.find((target) => target !== readlinkSync(link)),
        next,
      );
      const begun = process.hrtime.bigint();
      renameSync(next, link);
      return begun;
    },
    close: stop,
  };
}

async function startSdk(home) {
  const path = join(home.base, 'sdk.sock');
  const server = fork(here('comparators/sdk1-clients.mjs'), [path], { execArgv: NODE_OPTIONS });
  await once(server, 'message');
  return {
    path,
    rss: () => ask(server, 'rss'),
    change: () => ask(server, 'change'),
    async close() {
      server.kill();
      await once(server, 'exit');
      rmSync(path, { force: true });
    },
  };
}

async function ask(server, question) {
  server.send(question);
  return (await once(server, 'message'))[0];
}

function startPeers({ path }, { peers: program, speaks }, ...how) {
  const peers = spawn(program, [path, speaks, PEERS, ...how].map(String), { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: peers.stdout })[Symbol.asyncIterator]();
  return {
    async line() {
      const { done, value } = await lines.next();
      if (done) throw new Error('The peers have ended too early');
      return value;
    },
    begin: () => peers.stdin.write('\n'),
  };
}

function here(path) {
  return fileURLToPath(new URL(path, import.meta.url));
}

await runAlone(import.meta.url, serveRoots);
