// `npm run soak [-- --minutes N | --short]`: a real daemon under all loads of soak/loads.mjs, in cycles. After each cycle the
// loads stop and leave things as they were, so that what the daemon holds then must be what it held before: descriptors,
// handles, timers and memory. An honest session asks all the time, and every one of its questions must be answered.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openHome } from './home.mjs';
import { median } from './rows.mjs';
import { LOADS, makeTree, POLICY } from './soak/loads.mjs';
import { Peer } from './soak/peer.mjs';

const { values: options } = parseArgs({ options: { minutes: { type: 'string' }, short: { type: 'boolean' } } });
const MINUTES = options.short ? 0.3 : Number(options.minutes ?? 5);
const LOAD_MS = options.short ? 1_200 : 8_000;
/** After the loads: an edit settles, what is absent is withdrawn, timers of sessions that ended run out. */
const SETTLE_MS = 600;
/** Cycles in which caches fill and code is compiled. */
const WARM_UP = 2;
const MIB = 1024 * 1024;
/** What a median may rise by from the second quarter to the last, beside a twentieth of it. */
const SLACK = { descriptors: 2, handles: 2, timers: 2, heap: MIB, rss: 8 * MIB };
/** An honest session is answered within a second; in the short form, which runs beside other tests, sometime. */
const LONGEST_MS = options.short ? Number.POSITIVE_INFINITY : 1_000;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const home = await openHome(POLICY, { nodeOptions: ['--expose-gc', '--import', here('soak/probe.mjs')], ipc: true });
makeTree(home);
const admin = new Peer(home.control);
await admin.request('rootsd/reload', {});
const honest = spawn(process.execPath, [here('soak/honest.mjs'), home.socket, `file://${home.home}/a`], {
  stdio: 'pipe',
});
const account = text(honest.stdout);
await once(honest.stderr, 'data');

const samples = [];
const beginMs = performance.now();
let left = 0;
for (let cycle = 0; samples.length < 8 || performance.now() - beginMs < MINUTES * 60_000; cycle++) {
  await loadFor(LOAD_MS);
  left = await untilStill();
  if (left > 0) break;
  const sample = await takeSample();
  if (cycle >= WARM_UP) samples.push(sample);
  console.log(`${((performance.now() - beginMs) / 60_000).toFixed(1).padStart(5)} min  ${describe(sample)}`);
}
honest.stdin.end();
const seen = JSON.parse(await account);
await admin.close();
await home.close();

const quarter = Math.floor(samples.length / 4);
const faults = [];
for (const [what, slack] of Object.entries(SLACK)) {
  const of = (from) => median(samples.slice(from, from + quarter).map((sample) => sample[what]));
  const [before, last] = [of(quarter), of(samples.length - quarter)];
  if (!(last <= before * 1.05 + slack)) faults.push(`${what} grew from ${before} to ${last}`);
}
if (left > 0) faults.push(`${left} sessions were left when all peers had gone`);
if (seen.answered < seen.asked) faults.push(`${seen.asked - seen.answered} honest requests were not answered`);
if (seen.wrong > 0) faults.push(`${seen.wrong} honest requests got a list without the root that is always allowed`);
if (seen.longestMs > LONGEST_MS)
  faults.push(`an honest request waited ${seen.longestMs.toFixed(0)} ms (${seen.worst})`);
console.log(
  `honest session: ${seen.answered} of ${seen.asked} requests answered, longest wait ${seen.longestMs.toFixed(0)} ms`,
);
for (const fault of faults) console.log(`FAULT: ${fault}`);
if (faults.length === 0) console.log('flat: descriptors, handles, timers and memory');
process.exitCode = faults.length === 0 ? 0 : 1;

async function loadFor(ms) {
  const stop = AbortSignal.timeout(ms);
  await Promise.all(Object.values(LOADS).map((load) => load(home, stop)));
}

/** How many sessions are left after a while, beside the honest one. */
async function untilStill() {
  for (let waitedMs = 0; ; waitedMs += 100) {
    const { result } = await admin.request('rootsd/sessions', {});
    if (result.sessions.length === 1 || waitedMs > 10_000) {
      await delay(SETTLE_MS);
      return result.sessions.length - 1;
    }
    await delay(100);
  }
}

async function takeSample() {
  const answer = once(home.daemon, 'message');
  home.daemon.send('sample');
  const [held] = await answer;
  return { ...held, descriptors: readdirSync(`/proc/${home.daemon.pid}/fd`).length };
}

function describe({ descriptors, handles, timers, heap, rss }) {
  const mib = (bytes) => `${(bytes / MIB).toFixed(1)} MiB`;
  return `${descriptors} descriptors, ${handles} handles, ${timers} timers, heap ${mib(heap)}, resident ${mib(rss)}`;
}
