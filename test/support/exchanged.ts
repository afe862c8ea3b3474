// A directory that somebody exchanges with a link that leads out, over and over, as fast as that goes.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const EXCHANGER = `
const { renameSync, symlinkSync } = require('node:fs');
const { parentPort, workerData: { directory, target, stop } } = require('node:worker_threads');
symlinkSync(target, directory + '.link');
parentPort.postMessage('ready');
while (Atomics.load(stop, 0) === 0) {
  renameSync(directory, directory + '.kept');
  renameSync(directory + '.link', directory);
  renameSync(directory, directory + '.link');
  renameSync(directory + '.kept', directory);
}`;

/** Acts while it is exchanged; in the end the directory is back. */
export async function whileExchanged<T>(directory: string, target: string, act: () => Promise<T>): Promise<T> {
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(EXCHANGER, { eval: true, workerData: { directory, target, stop } });
  await once(worker, 'message');
  try {
    return await act();
  } finally {
    Atomics.store(stop, 0, 1);
    await once(worker, 'exit');
  }
}
