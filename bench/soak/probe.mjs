// Loaded into the daemon in front of its program: says on request what it holds. Nothing in the program knows of it.
import { createHook } from 'node:async_hooks';

/** Also those that do not keep the process alive, which getActiveResourcesInfo() leaves out. */
const timers = new Set();
createHook({
  init(id, type) {
    if (type === 'Timeout' || type === 'Immediate') timers.add(id);
  },
  destroy(id) {
    timers.delete(id);
  },
}).enable();

process.on('message', () => {
  // Twice: what a first collection finalizes, a second one frees.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  const handles = process.getActiveResourcesInfo().filter((type) => type !== 'Timeout' && type !== 'Immediate');
  process.send({ timers: timers.size, handles: handles.length, heap: heapUsed + external, rss });
});
process.channel.unref();
