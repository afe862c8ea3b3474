// Whoever asks for a reading, at whatever moment: half a save is never read (docs/policy.md, "What becomes active, and when"). A file cut off after
// its allows and before its denies is valid YAML.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LONGEST_WAIT_MS, STABLE_MS } from '../core/settling.ts';
import { type Clock, LIVE_CLOCK } from '../disk/clock.ts';
import { signatureOf } from './watch-signature.ts';

/**
 * Calls `read` when nothing in the directory has changed for 150 ms, and again where something has changed meanwhile; after
 * 2 s it takes what it gets. That nothing has changed the times of the files say at once. Where they cannot, since the clock
 * was set back behind them, it is seen. At a start nothing but its clock keeps the process alive meanwhile.
 */
export async function readSettled<T>(directory: string, read: () => Promise<T>, clock: Clock = LIVE_CLOCK): Promise<T> {
  const startMs = clock.now();
  let seen = '';
  let seenAtMs = startMs;
  for (;;) {
    const before = signatureOf({ path: directory, kind: 'directory' }).text;
    const nowMs = clock.now();
    if (before !== seen) seenAtMs = nowMs;
    seen = before;
    const isLate = nowMs - startMs >= LONGEST_WAIT_MS;
    const youngMs = STABLE_MS - Math.max(ageOf(directory, clock), nowMs - seenAtMs);
    if (youngMs > 0 && !isLate) {
      await new Promise<void>((resolve) => clock.after(youngMs, resolve));
      continue;
    }
    const result = await read();
    if (isLate || signatureOf({ path: directory, kind: 'directory' }).text === before) return result;
  }
}

/** Milliseconds since the last change of the directory or of a file in it, through links; a clock set back makes it 0. */
function ageOf(directory: string, clock: Clock): number {
  const newest = Math.max(
    changedAt(directory),
    ...entriesOf(directory).map((name) => changedAt(join(directory, name))),
  );
  return Math.max(0, clock.epochMs() - newest);
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
