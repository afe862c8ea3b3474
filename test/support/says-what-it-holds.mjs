// Preloaded into a process (`node --import`): at each SIGUSR2 it writes one line of JSON to standard error that says what
// it holds once its garbage is collected. Nothing in the program knows of it.
import { createHook } from 'node:async_hooks';
import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** Also those that do not keep the process alive, which getActiveResourcesInfo() leaves out. */
const timers = new Set();

function sayWhatIsHeld(gc) {
  // Twice: what a first collection finalizes, a second one frees.
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  const handles = process.getActiveResourcesInfo().filter((type) => type !== 'Timeout' && type !== 'Immediate');
  const [descriptors, threads] = ['fd', 'task'].map((what) => readdirSync(`/proc/self/${what}`).length);
  const held = { descriptors, threads, handles: handles.length, timers: timers.size, memory: heapUsed + external };
  process.stderr.write(`${JSON.stringify({ message: 'holds', ...held })}\n`);
}

// Threads of the process are preloaded too.
if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  createHook({
    init(id, type) {
      if (type === 'Timeout') timers.add(id);
    },
    destroy(id) {
      timers.delete(id);
    },
  }).enable();
  process.on('SIGUSR2', () => setImmediate(sayWhatIsHeld, gc));
}
