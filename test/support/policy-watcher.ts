// Policy watchers whose changes a test waits for one by one, and the ways in which files are saved.
import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { RootsError } from '../../src/core/errors.ts';
import { type OpenHints, openHints as openKernelHints } from '../../src/policy/watch-hints.ts';
import { openPolicyWatcher, type PolicyWatcherOptions } from '../../src/policy/watch-policies.ts';

/** What is seen of a change. With hints alone no sweep falls into a test; without hints the sweep is all there is. */
export const HINTS_ONLY = { sweepMs: 2 ** 31 - 1 };
export const SWEEP_ONLY = { sweepMs: 20, openHints: (() => ({ close() {} })) as OpenHints };

type Options = Partial<PolicyWatcherOptions> & Pick<PolicyWatcherOptions, 'directories'>;

/** A watcher whose changes come one by one: `next()` waits for one that was not asked for yet. */
export function openedWatcher(t: TestContext, options: Options) {
  const told: string[] = [];
  const warnings: RootsError[] = [];
  let wake = () => {};
  const watcher = openPolicyWatcher({
    onChange: (path) => {
      told.push(path);
      wake();
    },
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  t.after(() => watcher.close());
  const next = async (): Promise<string | undefined> => {
    if (told.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return told.shift();
  };
  const sweep = () => watcher.sweep();
  const [retry, counts, close] = [watcher.retry.bind(watcher), watcher.counts.bind(watcher), () => watcher.close()];
  return { sweep, retry, counts, close, next, told, warnings };
}

/** A save that leaves the old file whole until the new one is. */
export function replace(path: string, content: string): void {
  writeFileSync(`${path}.tmp`, content);
  renameSync(`${path}.tmp`, path);
}

/** As `ln -sfn` and the kubelet do it. */
export function flip(path: string, target: string): void {
  symlinkSync(target, `${path}_tmp`);
  renameSync(`${path}_tmp`, path);
}

/** The kernel's hints, and a promise of the first: chokidar is ready then. */
export function countedHints() {
  let ready = () => {};
  const hinted = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const openHints: OpenHints = (place, handlers) =>
    openKernelHints(place, {
      ...handlers,
      onHint: () => {
        ready();
        handlers.onHint();
      },
    });
  return { openHints, hinted };
}
