// Takes up one large policy after the other, to be run with --expose-gc. Prints what the heap holds before and after, how
// many of these policies are still alive, and how many threads are left when the prover is closed.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { gatherEvidence } from '../../src/core/evidence.ts';
import type { Policy } from '../../src/core/policy.ts';
import { createLayers } from '../../src/daemon/open-layers.ts';
import { Prover } from '../../src/policy/prover.ts';
import { largePolicy } from './large-policy.ts';
import { EXPANSIONS } from './policy.ts';
import { makeTree } from './tree.ts';

const removals: (() => void)[] = [];
const base = makeTree({ after: (remove) => removals.push(remove as () => void) }, ['dir user']);
const threads = () => readdirSync('/proc/self/task').length;
const prover = new Prover({ script: new URL('../../dist/chunks/prover-thread.js', import.meta.url) });
const layers = createLayers({
  expansions: { ...EXPANSIONS, home: base },
  uid: process.getuid?.() ?? 0,
  directories: { system: join(base, 'system'), user: join(base, 'user') },
  own: [],
  listeners: [],
  lastGood: null,
  prove: (input) => prover.prove(input),
  now: Date.now,
});
const seen: WeakRef<Policy>[] = [];

async function takeUp(version: number): Promise<void> {
  writeFileSync(join(base, 'user/a.yaml'), `${largePolicy(1_000)}# ${version}\n`, { mode: 0o600 });
  const { problems } = await layers.reload();
  if (problems.length > 0) throw new Error(problems[0]?.message);
  gatherEvidence(layers.policy, { roots: [], resolved: new Map() });
  seen.push(new WeakRef(layers.policy));
}

/** What was looked at in this turn is kept until the next one. */
async function heapMiB(): Promise<number> {
  await turn();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

for (let version = 0; version < 3; version++) await takeUp(version);
const atFirst = threads();
const beforeMiB = await heapMiB();
for (let version = 3; version < 10; version++) await takeUp(version);
const afterMiB = await heapMiB();
const alive = seen.filter((policy) => policy.deref() !== undefined).length;
await prover.close();
console.log(JSON.stringify({ beforeMiB, afterMiB, alive, threads: threads() - atFirst + 1 }));
for (const remove of removals) remove();
