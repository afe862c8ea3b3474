// An honest session, in a process of its own so that the load does not slow it down itself: asks again and again until its
// input ends, then prints what it saw. Usage: node honest.mjs SOCKET ROOT; every answer must hold that root.
import { setTimeout as delay } from 'node:timers/promises';
import { Peer } from './peer.mjs';

const [, , socket, root] = process.argv;
const PAUSE_MS = 5;
const peer = new Peer(socket);
const seen = { asked: 0, answered: 0, wrong: 0, longestMs: 0, worst: null };
let isOver = false;
process.stdin.on('end', () => {
  isOver = true;
});
process.stdin.resume();

/** A request that was never answered is the longest of all. */
let askedAt = null;
process.on('exit', () => {
  if (askedAt !== null) note(performance.now() - askedAt);
  process.stdout.write(`${JSON.stringify(seen)}\n`);
});

function note(tookMs) {
  if (tookMs > seen.longestMs) Object.assign(seen, { longestMs: tookMs, worst: new Date().toISOString() });
}

const attached = await peer.attach('honest');
if (attached?.result === undefined) throw new Error(`not attached: ${JSON.stringify(attached)}`);
process.stderr.write('attached\n');
while (!isOver) {
  askedAt = performance.now();
  seen.asked += 1;
  const reply = await peer.request('roots/list');
  note(performance.now() - askedAt);
  if (reply === null) break;
  askedAt = null;
  seen.answered += 1;
  if (!reply.result?.roots.some(({ uri }) => uri === root)) seen.wrong += 1;
  await delay(PAUSE_MS);
}
await peer.close();
process.exit();
