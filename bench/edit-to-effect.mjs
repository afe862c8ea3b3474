// Goal 17: from the edit of a policy to its effect in the real filesystem server behind `rootsd run`.
//
// A policy is read once its file has been as it is for 150 ms; that wait is a promise, not a cost. So an edit counts from
// 150 ms after the rename that made it: if the daemon sees the rename late, or its timer fires late, that is counted. The
// effect is the server's own line on standard error, which it writes when its list has been replaced. Against it, in the
// same round: what a host would do without rootsd, which is to end the server and start it with another argument; and
// `list_changed` alone, sent and answered by a host that has the list in its hands.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openHome, ROOTSD } from './home.mjs';
import { median, overRounds, runAlone } from './rows.mjs';
import { StdioHost } from './stdio-host.mjs';

const ROUNDS = 9;
/** Edits in a round; their median counts. */
const EDITS = 5;
/** How long a file must have been the same (src/core/settling.ts). */
const STABLE_MS = 150;
/** Between two edits, so that each is a change of its own. */
const PAUSE_MS = 100;
const REPLACED = 'Updated allowed directories from MCP roots';
const LIST_CHANGED = 'notifications/roots/list_changed';
const SERVER = fileURLToPath(
  new URL('../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', import.meta.url),
);

export async function editToEffect({ rounds: count = ROUNDS, isShort = false } = {}) {
  const home = await openHome(policy('a'));
  const at = (name) => join(home.home, name);
  for (const name of ['a', 'b']) mkdirSync(at(name));
  const behind = await openServer([ROOTSD, 'run', '--server', 'files', '--', process.execPath, SERVER], home);
  const bare = await openServer([SERVER], home, () => [{ uri: `file://${at('a')}` }]);
  let last = 'a';
  const edit = async () => {
    last = last === 'a' ? 'b' : 'a';
    const effect = behind.replaced();
    home.write(policy(last));
    const begin = performance.now();
    const tookMs = (await effect) - begin - STABLE_MS;
    await isAllowed(behind.host, at(last));
    return tookMs;
  };
  const tell = async () => {
    const effect = bare.replaced();
    const begin = performance.now();
    bare.host.send({ method: LIST_CHANGED });
    return (await effect) - begin;
  };
  let old = new StdioHost([process.execPath, SERVER, at('a')], { env: home.env });
  const restart = async () => {
    const begin = performance.now();
    old.process.kill();
    old = new StdioHost([process.execPath, SERVER, at('b')], { env: home.env });
    await old.initialize();
    old.initialized();
    await isAllowed(old, at('b'));
    return performance.now() - begin;
  };
  const rounds = [];
  for (let round = 0; round < count; round++) {
    const edits = isShort ? 2 : EDITS;
    rounds.push({ edit: await medianOf(edits, edit), tell: await medianOf(edits, tell), restart: await restart() });
  }
  await Promise.all([behind.host, bare.host, old].map((host) => host.close()));
  await home.close();
  const of = (key) => median(rounds.map((times) => times[key])).toFixed(1);
  console.error(
    `medians: edit ${of('edit')} ms after the ${STABLE_MS} ms, list_changed alone ${of('tell')}, restart ${of('restart')}`,
  );
  const name = 'policy edit to effect in the filesystem server';
  return [
    {
      goal: 17,
      name: `${name} / its restart with another argument`,
      ...overRounds(rounds, ({ edit, restart }) => edit / restart),
      gate: '<= 0.05',
      stretch: '<= 0.02',
    },
    {
      goal: 17,
      name: `${name} / list_changed alone`,
      ...overRounds(rounds, ({ edit, tell }) => edit / tell),
      gate: '<= 5',
      stretch: '<= 2',
    },
  ];
}

function policy(name) {
  return `roots: { ${name}: { path: ~/${name} } }\nrules: [{ id: files, allow: [${name}], servers: [files] }]\n`;
}

/** A server that has its roots; `replaced()` is when its list is replaced next. `roots` are the host's own. */
async function openServer([command, ...args], { env }, roots) {
  let onReplaced = () => {};
  const replaced = () =>
    new Promise((resolve) => {
      onReplaced = () => resolve(performance.now());
    });
  const host = new StdioHost([process.execPath, command, ...args], {
    env,
    onRequest: (_request, reply) => reply({ roots: roots() }),
    onStderr: (line) => line.startsWith(REPLACED) && onReplaced(),
  });
  const first = replaced();
  await host.initialize(roots === undefined ? {} : { roots: { listChanged: true } });
  host.initialized();
  await first;
  return { host, replaced };
}

/** What the server says of itself must be what was measured. */
async function isAllowed(host, directory) {
  const { result } = await host.request('tools/call', { name: 'list_allowed_directories', arguments: {} });
  const [, ...listed] = result.content[0].text.split('\n');
  if (listed.join() !== directory) throw new Error(`The server allows "${listed}", not "${directory}"`);
}

async function medianOf(times, measure) {
  const values = [];
  for (let i = 0; i < times; i++) {
    values.push(await measure());
    await delay(PAUSE_MS);
  }
  return median(values);
}

await runAlone(import.meta.url, editToEffect);
