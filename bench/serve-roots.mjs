// Goals 14 to 16: a thousand sessions on one socket against an SDK 1.x `Client` per connection: requests a second, memory,
// and how long a change takes until every peer holds the new list. The peers are one process in C that costs next to
// nothing; each server is a process of its own. Ratios of pairs, medians over rounds. Takes about two minutes.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compile, NO_COMPILER } from './compile.mjs';
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
/** The program of each server, and what peers speak with it. */
const SERVERS = {
  // Started as the units and `rootsd run` start the daemon.
  ours: { program: 'session-server.mjs', speaks: 'rootsd', flags: ['--max-semi-space-size=2'] },
  sdk: { program: 'comparators/sdk1-clients.mjs', speaks: 'mcp', flags: [] },
};

export async function serveRoots({ rounds: count = ROUNDS, isShort = false } = {}) {
  const compiled = compile('peers');
  if (compiled === null) return Object.values(GOALS).map((goal) => ({ ...goal, notCompared: NO_COMPILER }));
  const directory = mkdtempSync(join(tmpdir(), 'rootsd-bench-'));
  const rounds = [];
  try {
    for (let round = 0; round < count; round++) {
      const measured = {};
      // Whoever is first has the colder machine.
      for (const what of round % 2 === 0 ? ['ours', 'sdk'] : ['sdk', 'ours']) {
        const place = { ...SERVERS[what], path: join(directory, `${what}.sock`), peers: compiled.peers };
        const load = await measureLoad(place, isShort ? 100 : LOAD_MS);
        measured[what] = { ...load, fanOutMs: await measureFanOut(place, isShort ? 1 : CHANGES) };
      }
      rounds.push(measured);
    }
  } finally {
    rmSync(directory, { recursive: true });
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
  const server = await startServer(place);
  const before = await server.ask('rss');
  const peers = startPeers(place, OUTSTANDING, loadMs);
  await peers.line();
  const after = await server.ask('rss');
  peers.begin();
  const [perSecond, p99Us] = (await peers.line()).split(' ').map(Number);
  await server.close();
  return { perSecond, p99Us, kibEach: (after - before) / 1_024 / PEERS };
}

/** Milliseconds from a change to the last peer, the median of several changes. */
async function measureFanOut(place, changes) {
  const server = await startServer(place);
  const peers = startPeers(place, 'fan-out', changes);
  const times = [];
  for (let i = 0; i < changes; i++) {
    await peers.line();
    peers.begin();
    const begun = await server.ask('change');
    times.push(Number(BigInt(await peers.line()) - BigInt(begun)) / 1e6);
  }
  await server.close();
  return median(times);
}

async function startServer({ program, path, flags }) {
  const execArgv = ['--expose-gc', ...flags];
  const server = fork(fileURLToPath(new URL(program, import.meta.url)), [path], { execArgv });
  await once(server, 'message');
  return {
    async ask(question) {
      server.send(question);
      return (await once(server, 'message'))[0];
    },
    async close() {
      server.kill();
      await once(server, 'exit');
      rmSync(path, { force: true });
    },
  };
}

function startPeers({ peers: program, path, speaks }, ...how) {
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

await runAlone(import.meta.url, serveRoots);
