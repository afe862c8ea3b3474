// Runs one target of worker.ts and watches it: a broken promise, a hang or growth is a fault, and its input is kept.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Report, Work } from './worker.ts';

export interface Verdict {
  readonly text: string;
  readonly ok: boolean;
}

const WORKER = new URL('./worker-entry.mjs', import.meta.url);
/** No input that is so short may take so long. */
const HANG_MS = 20_000;
const MAX_INPUT = 64 * 1024;
/** What V8 keeps for itself while it goes on compiling; a leak of a byte a case passes it in the long form. */
const GROWTH_MIB = 8;

export interface FuzzOptions {
  readonly cases: number;
  readonly seed: number;
  readonly hangMs?: number;
}

/** `target`: the name of one in worker.ts. */
export async function fuzzTarget(target: string, { cases, seed, hangMs = HANG_MS }: FuzzOptions): Promise<Verdict> {
  const current = new SharedArrayBuffer(4 + MAX_INPUT);
  const workerData: Work = { target, cases, seed, current };
  const worker = new Worker(WORKER, { workerData, execArgv: [] });
  const report = await Promise.race([ended(worker), hangs(worker, current, hangMs)]);
  await worker.terminate();
  if (report.kind === 'failed') {
    const file = join(mkdtempSync(join(tmpdir(), 'rootsd-fuzz-')), target);
    writeFileSync(file, report.input);
    const shown = JSON.stringify(Buffer.from(report.input).toString('latin1'));
    return { ok: false, text: `${target}: FAILED (seed ${seed}), input kept in ${file}: ${shown}\n${report.why}` };
  }
  const { functions, corpus, slowestMs, heap } = report;
  const grew = heap[1] - heap[0] > GROWTH_MIB;
  const memory = `heap ${heap[0].toFixed(0)} -> ${heap[1].toFixed(0)} MiB${grew ? ' GREW' : ''}`;
  const text = `${target}: ${report.cases} cases (seed ${seed}), ${functions} functions, ${corpus} inputs kept, slowest ${slowestMs.toFixed(0)} ms, ${memory}`;
  return { ok: !grew, text };
}

function ended(worker: Worker): Promise<Report> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

/** Resolves when the worker has been at one input for too long. */
function hangs(worker: Worker, current: SharedArrayBuffer, hangMs: number): Promise<Report> {
  const input = (): Buffer => Buffer.from(new Uint8Array(current, 4, new Uint32Array(current, 0, 1)[0]).slice());
  return new Promise((resolve) => {
    let before = input();
    const watch = setInterval(() => {
      const now = input();
      if (now.equals(before) && now.length > 0)
        resolve({ kind: 'failed', input: now, why: `no end after ${hangMs} ms` });
      before = now;
    }, hangMs);
    worker.once('exit', () => clearInterval(watch));
  });
}
