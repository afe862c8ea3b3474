// What the servers that serve-roots.mjs measures have in common: three of these roots are told, then the other three.
export const NAMES = ['frontend', 'backend', 'docs', 'tools'];

/** Answers the benchmark: how much memory there is, or when a change began (ns of the monotonic clock). */
export function answerParent(change) {
  process.on('message', (question) => {
    if (question === 'rss') {
      globalThis.gc();
      process.send(process.memoryUsage.rss());
      return;
    }
    const begun = process.hrtime.bigint();
    change();
    process.send(String(begun));
  });
  process.on('disconnect', () => process.exit());
  process.send('ready');
}
