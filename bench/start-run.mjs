// Goals 1 to 4: what `rootsd run` adds to the start of a server, and what it holds while nothing happens. The server is one
// in C that costs nothing, the daemon is there already. Ratios of one round, medians over rounds. Takes about three minutes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compile, NO_COMPILER } from './compile.mjs';
import { openHome, ROOTSD } from './home.mjs';
import { median, overRounds, runAlone } from './rows.mjs';
import { StdioHost } from './stdio-host.mjs';

const ROUNDS = 9;
/** Starts of each kind in a round; their median counts. */
const REPEATS = 3;
const AT_ONCE = 20;
const POLICY = `roots: { a: { path: ~/a } }
rules: [{ id: r, allow: [a], servers: [echo] }]
`;
const NODE = process.execPath;
const [ECHO_ONCE, SDK_PROXY] = ['echo-once', 'sdk1-proxy'].map((name) =>
  fileURLToPath(new URL(`comparators/${name}.mjs`, import.meta.url)),
);
const GOALS = {
  reply: {
    goal: 1,
    name: 'first reply through `rootsd run` / a Node script that echoes one line',
    gate: '<= 1.35',
    stretch: '<= 1.2',
  },
  life: { goal: 1, name: 'whole life of `rootsd run` / `node -e 0`', gate: '<= 1.5', stretch: '<= 1.35' },
  proxy: {
    goal: 2,
    name: 'first reply through `rootsd run` / through an SDK 1.x proxy',
    gate: '<= 0.50',
    stretch: '<= 0.35',
  },
  atOnce: {
    goal: 3,
    name: '20 at once, until all have replied / 20 SDK 1.x proxies',
    gate: '<= 0.45',
    stretch: '<= 0.30',
  },
  memory: {
    goal: 4,
    name: 'private dirty memory of an idle `rootsd run` / an idle `node`',
    gate: '<= 1.30',
    stretch: '<= 1.15',
  },
};

export async function startRun({ rounds: count = ROUNDS, isShort = false } = {}) {
  const compiled = compile('echo-server');
  if (compiled === null) return Object.values(GOALS).map((goal) => ({ ...goal, notCompared: NO_COMPILER }));
  const server = compiled['echo-server'];
  const home = await openHome(POLICY);
  mkdirSync(join(home.home, 'a'));
  const commands = {
    ours: [NODE, ROOTSD, 'run', '--server', 'echo', '--', server],
    echo: [NODE, ECHO_ONCE],
    sdk: [NODE, SDK_PROXY, server],
  };
  const start = (name) => new StdioHost(commands[name], { env: home.env, cwd: home.base });
  const many = isShort ? 2 : AT_ONCE;
  const rounds = [];
  try {
    for (let round = 0; round < count; round++) {
      const repeat = (measure) => medianOf(isShort ? 1 : REPEATS, measure);
      rounds.push({
        echo: await repeat(() => firstReply(() => start('echo'))),
        ours: await repeat(() => firstReply(() => start('ours'))),
        sdk: await repeat(() => firstReply(() => start('sdk'))),
        node: await repeat(() => life([NODE, '-e', '0'], home.env)),
        life: await repeat(() => life(commands.ours, home.env)),
        oursAtOnce: await allReplied(many, () => start('ours')),
        sdkAtOnce: await allReplied(many, () => start('sdk')),
        oursKiB: await idleKiB(commands.ours, home.env),
        nodeKiB: await idleKiB([NODE, '-e', 'setInterval(() => {}, 1e9); console.log("{}")'], home.env),
      });
    }
  } finally {
    await home.close();
    compiled.remove();
  }
  const ratio = (goal, a, b) => ({ ...GOALS[goal], ...overRounds(rounds, (times) => times[a] / times[b]) });
  const of = (key) => median(rounds.map((times) => times[key])).toFixed(0);
  console.error(
    `medians: echo ${of('echo')} ms, run ${of('ours')}, SDK ${of('sdk')}; node -e 0 ${of('node')}, run ${of('life')};`,
  );
  console.error(
    `${many} at once: ${of('oursAtOnce')} ms, SDK ${of('sdkAtOnce')}; idle: ${of('oursKiB')} KiB, node ${of('nodeKiB')}`,
  );
  return [
    ratio('reply', 'ours', 'echo'),
    ratio('life', 'life', 'node'),
    ratio('proxy', 'ours', 'sdk'),
    ratio('atOnce', 'oursAtOnce', 'sdkAtOnce'),
    ratio('memory', 'oursKiB', 'nodeKiB'),
  ];
}

async function medianOf(times, measure) {
  const values = [];
  for (let i = 0; i < times; i++) values.push(await measure());
  return median(values);
}

/** From the start of the process to its first reply. */
async function firstReply(start) {
  const begin = performance.now();
  const host = start();
  await host.initialize();
  const tookMs = performance.now() - begin;
  await host.close();
  return tookMs;
}

async function allReplied(count, start) {
  const begin = performance.now();
  const hosts = Array.from({ length: count }, start);
  await Promise.all(hosts.map((host) => host.initialize()));
  const tookMs = performance.now() - begin;
  await Promise.all(hosts.map((host) => host.close()));
  return tookMs;
}

/** A process whose input is at its end from the beginning. */
async function life([command, ...args], env) {
  const begin = performance.now();
  const [status] = await once(spawn(command, args, { env, stdio: 'ignore' }), 'close');
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`);
  return performance.now() - begin;
}

/** What a process has written to and shares with nobody, a while after its first line. */
async function idleKiB([command, ...args], env) {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await once(child.stdout, 'data');
  await delay(500);
  const rollup = readFileSync(`/proc/${child.pid}/smaps_rollup`, 'utf8');
  child.kill();
  await once(child, 'close');
  return Number(/^Private_Dirty: +(\d+) kB$/m.exec(rollup)[1]);
}

await runAlone(import.meta.url, startRun);
