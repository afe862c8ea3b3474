// Whoever asks for a reading, at whatever moment: half a save is never read (docs/policy.md, "What becomes active, and when"). A file cut off after
// its allows and before its denies is valid YAML.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LONGEST_WAIT_MS, STABLE_MS } from '../core/settling.ts';
import { signatureOf } from './watch-signature.ts';

/**
 * Calls `read` when nothing in the directory has changed for 150 ms, and again where something has changed meanwhile; after
 * 2 s it takes what it gets.
 */
export async function readSettled<T>(directory: string, read: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    const isLate = performance.now() - startMs >= LONGEST_WAIT_MS;
    const youngMs = STABLE_MS - ageOf(directory);
    if (youngMs > 0 && !isLate) {
      await delay(Math.min(youngMs, STABLE_MS));
      continue;
    }
    const before = signatureOf({ path: directory, kind: 'directory' }).text;
    const result = await read();
    if (isLate || signatureOf({ path: directory, kind: 'directory' }).text === before) return result;
  }
}

/** Milliseconds since the last change of the directory or of a file in it, through links; a clock set back makes it 0. */
function ageOf(directory: string): number {
  const newest = Math.max(
    changedAt(directory),
    ...entriesOf(directory).map((name) => changedAt(join(directory, name))),
  );
  return Math.max(0, Date.now() - newest);
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function changedAt(path: string): number {
  try {
    return statSync(path).ctimeMs;
  } catch {
    return 0;
  }
}
