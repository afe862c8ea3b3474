// The thread in which a Prover has large layers read: texts come in, a proven layer goes out in pieces. Nothing of the disk
// is looked at here.

import { parentPort } from 'node:worker_threads';
import type { LayerPolicy } from '../core/policy.ts';
import { runAtOnce } from '../core/steps.ts';
import type { LayerFile } from './compile-layer.ts';
import { putTogether, takeApart } from './layer-pieces.ts';
import { proveLayer } from './prove-layer.ts';
import type { Proof, ProverMessage } from './prover-message.ts';

/** By their numbers: what was proven last, and what it was proven under. */
let held: ReadonlyMap<number, LayerPolicy> = new Map();
/** Of the next proof. */
let files: LayerFile[] = [];
let pieces = new Map<number, string[]>();

parentPort?.on('message', (message: ProverMessage) => {
  if (message.kind === 'file') files.push(message.file);
  else if (message.kind === 'piece') pieces.set(message.of, [...(pieces.get(message.of) ?? []), message.piece]);
  else parentPort?.postMessage(prove(message));
});

function prove({ number, input, upper: numbers }: Proof): readonly string[] {
  const upper = numbers.map((one): readonly [number, LayerPolicy] => [one, held.get(one) ?? received(one)]);
  const proven = proveLayer({ ...input, files, upper: upper.map(([, layer]) => layer) });
  held = new Map(proven.policy === null ? upper : [...upper, [number, proven.policy]]);
  [files, pieces] = [[], new Map()];
  return [...takeApart(proven)];
}

function received(number: number): LayerPolicy {
  const { policy } = runAtOnce(putTogether(pieces.get(number) ?? []));
  if (policy === null) throw new Error('INVARIANT: what is above has been proven');
  return policy;
}
