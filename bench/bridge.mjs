// Goals 5 to 13: what `rootsd run` costs while messages pass through it. Host and server are in C and cost next to nothing, so
// what is seen is what stands between them: ours, a bridge in C that only copies (the floor of one more process), proxies of
// both SDKs, socat where it is installed. Ratios of one round, medians over rounds. Takes about three minutes.
//
// The gates hold for messages that need not be judged. What the guard costs a call with a long text is a row of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compile, NO_COMPILER } from './compile.mjs';
import { openHome, ROOTSD } from './home.mjs';
import { digits, median, overRounds, runAlone } from './rows.mjs';
import { StdioHost } from './stdio-host.mjs';

const ROUNDS = 7;
const KIB = 1_024;
const MIB = 1_024 * KIB;
const POLICY = `roots: { a: { path: ~/a } }
rules: [{ id: r, allow: [a], servers: [echo], access: read-write }]
`;
const NODE = process.execPath;
/** Requests of this method concern nobody but the server; of the other one the guard reads every word. */
const [PASSES, JUDGED] = ['bench/echo', 'tools/call'];
/** Roots of the one host are asked for as often as those of the other. */
const ASKED = 2_000;

const comparator = (name) => fileURLToPath(new URL(`comparators/${name}.mjs`, import.meta.url));

/** What stands in front of a server, by name: the command that starts it with the server's behind. */
function bridgesOf(compiled) {
  return {
    direct: (server) => server,
    floor: (server) => [compiled.bridge, ...server],
    ours: (server) => [NODE, ROOTSD, 'run', '--server', 'echo', '--', ...server],
    sdk1: (server) => [NODE, comparator('sdk1-proxy'), ...server],
    sdk2: (server) => [NODE, comparator('sdk2-proxy'), ...server],
    socat: (server) => ['socat', '-b', '65536', 'STDIO', `EXEC:${server.join(' ')}`],
  };
}

const GOALS = [
  [
    5,
    'peak memory after messages of 5, 20 and 40 MiB / while idle',
    ({ ours }) => ours.peak / ours.idle,
    '1.5',
    '1.25',
  ],
  [6, 'round trip of 1 KiB / a bridge in C', ({ ours, floor }) => ours.p50 / floor.p50, '1.5', '1.25'],
  [6, 'round trip of 1 KiB / an SDK 1.x proxy', ({ ours, sdk1 }) => ours.p50 / sdk1.p50, '0.7', '0.5'],
  [
    7,
    'round trip of 1 KiB, 99th percentile / an SDK 1.x proxy',
    ({ ours, sdk1 }) => ours.p99 / sdk1.p99,
    '0.35',
    '0.12',
  ],
  [
    8,
    'round trip of 1 KiB to an SDK 1.x server / without',
    ({ real }) => real.ours.p50 / real.direct.p50,
    '1.6',
    '1.4',
  ],
  [8, 'messages a second to an SDK 1.x server / without', ({ real }) => real.direct.each / real.ours.each, 0.9, 1],
  [9, 'messages a second of 1 KiB / a bridge in C', ({ ours, floor }) => floor.each / ours.each, 0.5, 0.75],
  [9, 'messages a second of 1 KiB / an SDK 1.x proxy', ({ ours, sdk1 }) => sdk1.each / ours.each, 6, 12],
  [10, 'round trip of 5 MiB / a bridge in C', ({ ours, floor }) => ours.large / floor.large, '1.5', '1.0'],
  [10, 'MB a second in lines of 5 MiB / an SDK 1.x proxy', ({ ours, sdk1 }) => sdk1.stream / ours.stream, 10, 40],
  [11, 'round trip of 40 MiB / of 20 MiB', ({ ours }) => ours.large40 / ours.large20, '2.5', '2.1'],
  [12, 'round trip of 5 MiB on 2026-07-28 / a bridge in C', ({ modern, floor }) => modern / floor.large, '5', '2'],
  [13, 'roots/list answered / by an SDK 1.x host, directly', ({ asked }) => asked.ours / asked.sdk1, '1.0', '0.75'],
  ['guard', 'a call with 5 MiB that is judged / a bridge in C', ({ guarded, floor }) => guarded / floor.large, '2.5'],
  ['-', 'round trip of 1 KiB / an SDK 2.x proxy', ({ ours, sdk2 }) => ours.p50 / sdk2.p50],
  ['-', 'round trip of 1 KiB / socat', ({ ours, socat }) => ours.p50 / socat.p50],
].map(([goal, name, ratio, gate, stretch]) => ({ goal, name, ratio, gate: bound(gate), stretch: bound(stretch) }));

/** A text is an upper bound, a number a lower one. */
function bound(limit) {
  return limit === undefined ? undefined : `${typeof limit === 'string' ? '<=' : '>='} ${limit}`;
}

export async function bridge({ rounds: count = ROUNDS, isShort = false } = {}) {
  const compiled = compile('bridge', 'host', 'echo-server', 'roots-asker');
  if (compiled === null) return GOALS.map((goal) => row(goal, { notCompared: NO_COMPILER }));
  const home = await openHome(POLICY);
  mkdirSync(join(home.home, 'a'));
  const scale = isShort ? 0.02 : 1;
  const bench = { compiled, home, echo: [compiled['echo-server']], scale, large: 5 * MIB * scale };
  const hasSocat = await isInstalled('socat');
  const rounds = [];
  try {
    for (let i = 0; i < count; i++) rounds.push(await measureRound(bench, i, hasSocat));
  } finally {
    await home.close();
    compiled.remove();
  }
  for (const name of ['direct', 'floor', 'ours', 'sdk1', 'sdk2']) console.error(`${name}: ${describe(rounds, name)}`);
  return GOALS.map((goal) =>
    goal.name.endsWith('socat') && !hasSocat
      ? row(goal, { notCompared: 'no socat' })
      : row(goal, overRounds(rounds, goal.ratio)),
  );
}

/** What is not to be met has no gate. */
function row({ ratio: _, ...goal }, measured) {
  return { ...JSON.parse(JSON.stringify(goal)), ...measured };
}

/** Medians, for people. */
function describe(rounds, name) {
  const of = (key) => digits(median(rounds.map((round) => round[name][key])));
  return `1 KiB ${of('p50')} us (p99 ${of('p99')}), ${of('each')} us each of many, 5 MiB ${of('large')} us, ${of('stream')} us each of many`;
}

async function measureRound(bench, i, hasSocat) {
  const { echo } = bench;
  const names = ['floor', 'direct', 'ours', 'sdk1', 'sdk2', ...(hasSocat ? ['socat'] : [])];
  // Whoever is first has the colder machine.
  const order = [...names.slice(i % names.length), ...names.slice(0, i % names.length)];
  const round = {};
  for (const name of order) round[name] = await measureBridge(bench, name, echo);
  round.modern = await measureModern(bench);
  round.guarded = await measureGuarded(bench);
  const real = [NODE, comparator('sdk1-echo')];
  round.real = { direct: await measureSmall(bench, 'direct', real), ours: await measureSmall(bench, 'ours', real) };
  round.asked = { ours: await askOurs(bench), sdk1: await askSdk(bench) };
  return round;
}

async function measureBridge(bench, name, server) {
  const host = await startHost(bench, name, server);
  const idle = memoryOf(host.pid, 'VmRSS');
  const small = await measureMany(bench, host, name.startsWith('sdk') ? 3_000 : 20_000);
  await host.send({ bytes: bench.large, count: 1 });
  const { p50: large } = await host.send({ bytes: bench.large, count: 5 });
  const { each: stream } = await host.send({ bytes: bench.large, count: 8, inFlight: 4 });
  const longer = name === 'ours' ? await measureLonger(bench, host) : {};
  await host.close();
  return { idle, ...small, large, stream, ...longer };
}

async function measureLonger({ scale }, host) {
  const { p50: large20 } = await host.send({ bytes: 20 * MIB * scale, count: 3 });
  const { p50: large40 } = await host.send({ bytes: 40 * MIB * scale, count: 3 });
  return { large20, large40, peak: memoryOf(host.pid, 'VmHWM') };
}

async function measureSmall(bench, name, server) {
  const host = await startHost(bench, name, server);
  const small = await measureMany(bench, host, 3_000);
  await host.close();
  return small;
}

async function measureMany({ scale }, host, many) {
  await host.send({ bytes: KIB, count: 500 * scale });
  const { p50, p99 } = await host.send({ bytes: KIB, count: 2_000 * scale });
  const { each } = await host.send({ bytes: KIB, count: many * scale, inFlight: 64 });
  return { p50, p99, each };
}

async function measureModern(bench) {
  const host = await startHost(bench, 'ours', bench.echo, 'modern');
  await host.send({ bytes: bench.large, count: 1 });
  const { p50 } = await host.send({ bytes: bench.large, count: 5 });
  await host.close();
  return p50;
}

async function measureGuarded(bench) {
  const host = await startHost(bench, 'ours', bench.echo);
  await host.send({ bytes: bench.large, count: 1, method: JUDGED });
  const { p50 } = await host.send({ bytes: bench.large, count: 5, method: JUDGED });
  await host.close();
  return p50;
}

/** The host in C with what stands between it and the server. `send()` resolves with microseconds. */
async function startHost({ compiled, home }, name, server, era = 'legacy') {
  const command = bridgesOf(compiled)[name](server);
  const child = spawn(compiled.host, [era, ...command], {
    env: home.env,
    cwd: home.base,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => {
    const { done, value } = await lines.next();
    if (done) throw new Error(`"${name}" has ended too early`);
    return value;
  };
  const pid = Number(await line());
  return {
    pid,
    async send({ bytes, count, inFlight = 1, method = PASSES }) {
      const times = Math.max(1, Math.round(count));
      child.stdin.write(`${Math.round(bytes)} ${times} ${inFlight} ${method}\n`);
      const [p50, p99, all] = (await line()).split(' ').map(Number);
      return { p50, p99, each: all / times };
    },
    close() {
      child.stdin.end();
      return ended;
    },
  };
}

function memoryOf(pid, field) {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
}

/** A server asks; a host that knows nothing of roots stands in front of `run`. */
async function askOurs({ compiled, home, scale }) {
  const server = [compiled['roots-asker'], String(ASKED * scale)];
  let onAsked = () => {};
  const asked = new Promise((resolve) => {
    onAsked = resolve;
  });
  const host = new StdioHost(bridgesOf(compiled).ours(server), {
    env: home.env,
    cwd: home.base,
    onStderr: (line) => line.startsWith('asked ') && onAsked(Number(line.slice(6))),
  });
  await host.initialize();
  host.initialized();
  const us = await asked;
  await host.close();
  return us;
}

async function askSdk({ compiled, home, scale }) {
  const server = [compiled['roots-asker'], String(ASKED * scale)];
  const args = [comparator('sdk1-roots'), `file://${home.home}/a`, ...server];
  const child = spawn(NODE, args, { env: home.env, stdio: ['pipe', 'ignore', 'pipe'] });
  const ended = once(child, 'close');
  const [line] = await once(createInterface({ input: child.stderr }), 'line');
  child.stdin.end();
  await ended;
  return Number(line.slice(6));
}

function isInstalled(program) {
  const child = spawn(program, ['-V'], { stdio: 'ignore' });
  return once(child, 'close').then(
    () => true,
    () => false,
  );
}

await runAlone(import.meta.url, bridge);
