// One target in a thread of its own: who watches it can tell where it hangs (main.ts).
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { Coverage } from './coverage.ts';
import { broken, endless } from './faulty.ts';
import { messages } from './messages.ts';
import { mutate } from './mutate.ts';
import { policies } from './policies.ts';
import { Random } from './random.ts';
import type { Target } from './target.ts';
import { uris } from './uris.ts';

export interface Work {
  readonly target: string;
  readonly cases: number;
  readonly seed: number;
  /** The input that is being run: its length, then its bytes. Shared, so that it can be read while this thread hangs. */
  readonly current: SharedArrayBuffer;
}

export type Report =
  | { readonly kind: 'failed'; readonly input: Uint8Array; readonly why: string }
  | {
      readonly kind: 'done';
      readonly cases: number;
      readonly functions: number;
      readonly corpus: number;
      readonly slowestMs: number;
      /** Memory at the first third and at the end, in MiB. */
      readonly heap: readonly [number, number];
    };

const TARGETS: readonly Target[] = [messages, policies, uris, broken, endless];

class Failure extends Error {
  readonly input: Buffer;

  constructor(input: Buffer, cause: unknown) {
    super(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause), { cause });
    this.input = input;
  }
}

const { target: name, cases, seed, current } = workerData as Work;
const target = TARGETS.find((one) => one.name === name);
assert.ok(target, name);
parentPort?.postMessage(fuzz(target));

function fuzz(target: Target): Report {
  const random = new Random(seed);
  const coverage = new Coverage();
  const corpus = [...target.corpus];
  const [length, bytes] = [new Uint32Array(current, 0, 1), new Uint8Array(current, 4)];
  let slowestMs = 0;
  let earlyHeap = 0;
  const check = (input: Buffer): void => {
    length[0] = input.length;
    bytes.set(input);
    const begin = performance.now();
    try {
      target.check(input);
    } catch (error) {
      throw new Failure(input, error);
    }
    slowestMs = Math.max(slowestMs, performance.now() - begin);
  };
  try {
    coverage.news(target.corpus, check);
    let done = 0;
    for (; done < cases; done += target.batch) {
      if (earlyHeap === 0 && done >= cases / 3) earlyHeap = heapMiB();
      const batch = Array.from({ length: target.batch }, () => mutate({ ...target, corpus }, random));
      corpus.push(...coverage.news(batch, check));
    }
    const { functions } = coverage;
    return { kind: 'done', cases: done, functions, corpus: corpus.length, slowestMs, heap: [earlyHeap, heapMiB()] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { kind: 'failed', input: error.input, why: error.message };
  } finally {
    coverage.close();
  }
}

function heapMiB(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
