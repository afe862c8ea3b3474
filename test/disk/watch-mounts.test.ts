import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { openNative } from '../../src/disk/native.ts';
import { needsMounts, runWithPrivateMounts } from '../support/private-mounts.ts';
import { temporaryDirectory } from '../support/tree.ts';

/** After each step: [available, which directory it is or why it is not available, changes told so far]. */
interface Report {
  readonly seen: readonly (readonly [available: boolean, what: string, changes: number])[];
  readonly mounts: readonly string[];
}

const UNMOUNTED = 'lies on a file system that is not mounted';

const ROWS: Readonly<Record<string, Report>> = {
  // Another directory in its place: what is mounted is meant.
  'mounted over': {
    seen: [
      [true, 'empty', 1],
      [true, 'below', 2],
    ],
    mounts: ['rw', 'gone'],
  },
  'a bind mount over it': {
    seen: [
      [true, 'other', 1],
      [true, 'below', 2],
    ],
    mounts: ['rw', 'gone'],
  },
  'mounted over twice': {
    seen: [
      [true, 'empty', 1],
      [true, 'other', 2],
      [true, 'empty', 3],
      [true, 'below', 4],
    ],
    mounts: ['rw', 'rw', 'rw', 'gone'],
  },
  'its parent mounted over': {
    seen: [
      [true, 'elsewhere', 1],
      [true, 'below', 2],
    ],
    mounts: ['rw', 'gone'],
  },
  // At once: this is no absence that may be over in a moment.
  'its parent mounted over by nothing like it': {
    seen: [
      [false, 'does not exist', 1],
      [true, 'below', 2],
    ],
    mounts: ['rw', 'gone'],
  },
  'a mount elsewhere': {
    seen: [
      [true, 'below', 0],
      [true, 'below', 0],
    ],
    mounts: [],
  },
  // The directory that a file system was mounted on is not the root (B118, B120).
  unmounted: {
    seen: [
      [false, UNMOUNTED, 1],
      [true, 'other', 2],
      [false, UNMOUNTED, 3],
      [true, 'other', 4],
    ],
    mounts: ['gone', 'rw', 'gone', 'rw'],
  },
  'unmounted lazily while it is in use': { seen: [[false, UNMOUNTED, 1]], mounts: ['gone'] },
  'unmounted, its place removed and made again': {
    seen: [
      [false, UNMOUNTED, 1],
      [false, 'does not exist', 2],
      [true, 'empty', 3],
    ],
    mounts: ['gone'],
  },
  // The kernel refuses to write; what may be done there is the policy's word as before.
  'remounted read-only': {
    seen: [
      [true, 'other', 0],
      [true, 'other', 0],
    ],
    mounts: ['ro', 'rw'],
  },
};

const native = await openNative();

for (const mode of ['poll', 'sweep'] as const) {
  const skip = needsMounts() || (mode === 'poll' && native === null && 'koffi is not installed');
  describe(`openRootWatcher() sees by ${mode} a root`, { skip }, () => {
    let reports: Readonly<Record<string, Report>> = {};

    before(() => {
      const base = temporaryDirectory({ after } as Pick<TestContext, 'after'>);
      reports = runWithPrivateMounts('./change-mounts.ts', [base, mode]);
    });

    for (const [name, expected] of Object.entries(ROWS)) {
      it(name, () => assert.deepEqual(reports[name], expected));
    }
  });
}
