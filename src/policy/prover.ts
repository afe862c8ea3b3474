// Where the texts of a layer become a policy: small ones here and now, large ones in a thread of their own, so that peers
// are answered meanwhile and the memory it takes is given back. Both run proveLayer(); the thread only hosts it.
//
// Files are opened, judged and read before, by whoever calls: the thread is given texts and never asks the disk.

import { once } from 'node:events';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type Problem, problem, startOf } from '../core/errors.ts';
import { flattenError } from '../core/flatten-error.ts';
import type { LayerPolicy } from '../core/policy.ts';
import { resultInSlices, runInSlices } from '../disk/slices.ts';
import type { LayerInput } from './compile-layer.ts';
import { putTogether, takeApart } from './layer-pieces.ts';
import { type ProvenLayer, proveLayer } from './prove-layer.ts';
import type { ProverMessage } from './prover-message.ts';

export interface ProverOptions {
  /** The module of the thread; tests have others. */
  readonly script?: URL;
  /** How much the thread may hold. */
  readonly heapMiB?: number;
  /** How long it may take for each MiB of text begun. */
  readonly deadlineMs?: number;
  /** How long it is kept with nothing to do. */
  readonly idleMs?: number;
}

/**
 * Up to here a layer and those above it take some milliseconds, fewer than a thread takes to start. Most layers have a few
 * KiB, so most daemons never have one.
 */
export const SMALL_LAYER = 16 * 1024;
/** For some twenty MiB of text. */
const HEAP_MIB = 1_024;
/** Seconds are usual; this is for what never ends. */
const DEADLINE_MS = 60_000;
/** Who edits a policy saves it more than once, and a thread that is warm takes half the time. */
const IDLE_MS = 30_000;
const MIB = 1024 * 1024;

/** The built file, beside ours. */
const SCRIPT = new URL('./prover-thread.js', import.meta.url);

/** Proves layers, one at a time. */
export class Prover {
  readonly #options: Required<ProverOptions>;
  /** How long the texts were of what was proven here. */
  readonly #lengths = new WeakMap<LayerPolicy, number>();
  #thread: Worker | null = null;
  /** By what number a thread knows a layer … */
  readonly #numbers = new WeakMap<LayerPolicy, number>();
  #lastNumber = 0;
  /** … as long as it holds it. */
  #held: ReadonlySet<number> = new Set();
  #idle: NodeJS.Timeout | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: ProverOptions = {}) {
    this.#options = { script: SCRIPT, heapMiB: HEAP_MIB, deadlineMs: DEADLINE_MS, idleMs: IDLE_MS, ...options };
  }

  /**
   * Never rejects: where the thread fails, that is the one problem of the layer. Does not settle once the prover is
   * closed: nobody may take up anything then.
   */
  async prove(input: LayerInput): Promise<ProvenLayer> {
    const own = input.files.reduce((sum, { text }) => sum + text.length, 0);
    // Its tests are asked of all layers together.
    const length = input.upper.reduce((sum, layer) => sum + (this.#lengths.get(layer) ?? 0), own);
    const proven = length <= SMALL_LAYER ? proveLayer(input) : await this.#proveNext(input, length);
    if (proven.policy !== null) this.#lengths.set(proven.policy, own);
    return proven;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#endThread();
  }

  #proveNext(input: LayerInput, length: number): Promise<ProvenLayer> {
    const deadlineMs = this.#options.deadlineMs * Math.ceil(length / MIB);
    const next = this.#queue.then(() => this.#proveApart(input, deadlineMs));
    this.#queue = next;
    return next;
  }

  async #proveApart(input: LayerInput, deadlineMs: number): Promise<ProvenLayer> {
    clearTimeout(this.#idle);
    const answer = this.#isClosed ? null : await this.#ask(input, deadlineMs);
    if (typeof answer === 'string') await this.#endThread();
    else this.#idle = setTimeout(() => this.#endThread(), this.#options.idleMs).unref();
    if (typeof answer === 'string') return { policy: null, problems: [notProven(input, answer)], results: [] };
    const proven = answer === null ? null : await resultInSlices(putTogether(answer), () => this.#isClosed);
    if (proven === null || this.#isClosed) return new Promise(() => {});
    // The thread has proven it under the number given last.
    if (proven.value.policy !== null) this.#numbers.set(proven.value.policy, this.#lastNumber);
    return proven.value;
  }

  /** The pieces of the layer, or what went wrong. A thread that was ended by us says nothing. */
  async #ask(input: LayerInput, deadlineMs: number): Promise<readonly string[] | string | null> {
    const listening = new AbortController();
    const { signal } = listening;
    try {
      const thread = this.#startedThread();
      thread.ref();
      const message = once(thread, 'message', { signal }) as Promise<[readonly string[]]>;
      const end = once(thread, 'exit', { signal }) as Promise<[number]>;
      const telling = runInSlices(this.#tell(thread, input), () => signal.aborted);
      return await Promise.race([
        telling.then(() => new Promise<never>(() => {})),
        message.then(([pieces]) => pieces),
        end.then(([status]) => (this.#isClosed ? null : `the thread that reads them ended with status ${status}`)),
        delay(deadlineMs, `reading them takes more than ${deadlineMs / 1_000} s`, { signal }),
      ]);
    } catch (error) {
      return this.#whyFailed(error);
    } finally {
      listening.abort();
      this.#thread?.unref();
    }
  }

  /** One message a step. */
  *#tell(thread: Worker, { files, upper, ...input }: LayerInput): Generator<void> {
    const tell = (message: ProverMessage) => thread.postMessage(message);
    for (const file of files) {
      tell({ kind: 'file', file });
      yield;
    }
    const numbers: number[] = [];
    for (const layer of upper) {
      const number = this.#numberOf(layer);
      numbers.push(number);
      if (this.#held.has(number)) continue;
      for (const piece of takeApart({ policy: layer, problems: [], results: [] })) {
        tell({ kind: 'piece', of: number, piece });
        yield;
      }
    }
    const number = ++this.#lastNumber;
    tell({ kind: 'prove', number, input, upper: numbers });
    this.#held = new Set([...numbers, number]);
  }

  #numberOf(layer: LayerPolicy): number {
    const number = this.#numbers.get(layer) ?? ++this.#lastNumber;
    this.#numbers.set(layer, number);
    return number;
  }

  #startedThread(): Worker {
    if (this.#thread !== null) return this.#thread;
    const { script, heapMiB } = this.#options;
    const thread = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: heapMiB } });
    this.#thread = thread;
    this.#held = new Set();
    // One that ends when nothing is asked of it is replaced at the next question.
    thread.on('error', () => {});
    thread.on('exit', () => {
      if (this.#thread === thread) this.#thread = null;
    });
    return thread;
  }

  async #endThread(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }

  #whyFailed(error: unknown): string {
    const { code, message } = flattenError(error, { withStack: false });
    if (code === 'ERR_WORKER_OUT_OF_MEMORY')
      return `reading them takes more than ${this.#options.heapMiB} MiB of memory`;
    return `the thread that reads them failed: ${message}`;
  }
}

/** The layer as a whole is wrong: none of its files alone. */
function notProven({ files }: LayerInput, what: string): Problem {
  const directory = dirname(files[0]?.path ?? '');
  return problem('POLICY_NOT_PROVEN', startOf(directory), { directory, what });
}
