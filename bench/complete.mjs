// Completion of a path, at the function that answers it, against a bare readdir of the same directory: the first time a
// session asks, and when it asks again. And what an MCP client costs the daemon in memory.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromSource } from './from-source.mjs';
import { openHome } from './home.mjs';
import { connectPeer } from './peer.mjs';
import { overRounds, runAlone } from './rows.mjs';

const ROUNDS = 9;
/** Of ten entries nothing is promised: there a look at the way to the directory costs more than the directory. */
const COUNTS = [10, 1_000, 100_000];
const CLIENTS = 200;
const EXPANSIONS = { home: '/home/ana', user: 'ana', uid: 1000, hostname: 'box' };
const WHO = { observed: { pid: 1, user: { uid: 1000 } }, claimed: { server: 'rootsd', host: null }, class: 'claimed' };

export async function complete({ isShort = false, rounds = ROUNDS } = {}) {
  const source = await fromSource({
    completer: 'src/mcp/completer.ts',
    clock: 'src/disk/clock.ts',
    fetcher: 'src/disk/place-fetcher.ts',
    mounts: 'src/disk/mounts.ts',
    native: 'src/disk/native.ts',
    walk: 'src/disk/kernel-walk.ts',
    watch: 'src/disk/watch-roots.ts',
    compile: 'src/policy/compile-layer.ts',
    policy: 'src/core/policy.ts',
    evidence: 'src/core/evidence.ts',
    view: 'src/core/view.ts',
    standing: 'src/core/standing.ts',
    value: 'src/core/path-value.ts',
  });
  const base = realpathSync.native(mkdtempSync(join(tmpdir(), 'rootsd-bench-')));
  const rows = [];
  for (const count of isShort ? [10, 1_000] : COUNTS) {
    const path = join(base, String(count));
    mkdirSync(path);
    for (let i = 0; i < count; i++) writeFileSync(join(path, `entry-${i}.ts`), '');
    const session = await sessionOf(source, path);
    const measured = [];
    for (let round = 0; round < rounds; round++) measured.push(await measure(source, session, path));
    session.close();
    const bounds = count < 1_000 ? [{}, {}] : [{ gate: '<= 3' }, { gate: '<= 0.1' }];
    const name = `of ${count.toLocaleString('en')} entries / readdir`;
    rows.push(
      {
        goal: 'complete',
        name: `first completion ${name}`,
        ...overRounds(measured, (r) => r.first / r.bare),
        ...bounds[0],
      },
      { goal: 'complete', name: `same again ${name}`, ...overRounds(measured, (r) => r.again / r.bare), ...bounds[1] },
    );
  }
  rmSync(base, { recursive: true });
  return [...rows, await memoryOfClients(isShort ? 10 : CLIENTS)];
}

/** What a client adds to a daemon that serves one already: of that, what loading the SDK costs is no part. */
async function memoryOfClients(count) {
  const home = await openHome('roots: { tmp: { path: /tmp } }\n');
  const clients = [await openClient(home.socket)];
  const before = residentBytes(home.daemon.pid);
  while (clients.length <= count) clients.push(await openClient(home.socket));
  const value = (residentBytes(home.daemon.pid) - before) / count / 1024;
  for (const { end } of clients) end();
  await home.close();
  return { goal: 'complete', name: `KiB of the daemon for each of ${count} MCP clients`, value };
}

async function openClient(path) {
  const client = await connectPeer(path);
  const clientInfo = { name: 'bench', version: '1' };
  await client.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  await client.request('resources/list');
  return client;
}

function residentBytes(pid) {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kib) * 1024;
}

/** Milliseconds, each the best of some: what is left out is other work of the machine. */
async function measure({ completer, clock, value }, session, path) {
  const params = {
    ref: { type: 'ref/resource', uri: 'file:///{+path}' },
    argument: { name: 'path', value: value.toPathValue(path, 'directory') },
  };
  const ask = (one) => one.complete(params);
  const fresh = () => new completer.Completer({ session, clock: clock.SYSTEM_CLOCK });
  const known = fresh();
  await ask(known);
  return {
    bare: await best(() => readdir(path)),
    first: await best(() => ask(fresh())),
    again: await best(() => ask(known)),
  };
}

async function best(run, tries = 5) {
  let ms = Number.POSITIVE_INFINITY;
  for (let i = 0; i < tries; i++) {
    const begin = performance.now();
    await run();
    ms = Math.min(ms, performance.now() - begin);
  }
  return ms;
}

/** A session with one root; the disk is looked at as the daemon does. */
async function sessionOf({ fetcher, mounts, native, walk, watch, compile, policy, evidence, view, standing }, path) {
  const text = `version: 1\nroots: { r: { path: ${path} } }\nrules: [{ id: a, allow: [r] }]\n`;
  const layer = compile.compileLayer({
    layer: 'user',
    files: [{ path: 'u.yaml', text }],
    expansions: EXPANSIONS,
    upper: [],
  });
  const composed = policy.composePolicy([layer.policy]);
  const watcher = watch.openRootWatcher({
    declarations: composed.roots,
    patterns: policy.pathsOf(composed),
    readProject: () => undefined,
    onChange() {},
    onWarning() {},
  });
  const gathered = evidence.gatherEvidence(composed, watcher.places());
  watcher.close();
  const circumstances = standing.circumstancesOf(gathered, WHO);
  const sight = {
    peer: WHO,
    evidence: gathered,
    circumstances,
    view: view.buildView(gathered, WHO, circumstances),
  };
  const system = await native.openNative();
  const places = new fetcher.PlaceFetcher({
    walk: walk.kernelWalk(system?.openat2NoMagicLinks),
    mounts: new mounts.MountTable(system === null ? {} : { mountsChanged: system.mountsChanged }),
  });
  const client = new AbortController().signal;
  const fetch = (request) => places.fetch(request, client);
  return { id: 'bench', sight: () => sight, fetch, close: () => places.close() };
}

await runAlone(import.meta.url, complete);
