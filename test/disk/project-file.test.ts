import assert from 'node:assert/strict';
import { renameSync, symlinkSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { RealPath } from '../../src/core/path.ts';
import { ProjectWatch } from '../../src/disk/project-file.ts';
import { makeTree } from '../support/tree.ts';

describe('ProjectWatch', () => {
  it('forgets a change that has been taken back before it settled', (t) => {
    const base = makeTree(t, ['file one/.rootsd.yaml x', 'file two/.rootsd.yaml y', 'link root -> one']);
    // A link stands for the root here: so the very same file can come back.
    const place = { path: `${base}/root` as RealPath, identity: '1' };
    let reads = 0;
    const watch = new ProjectWatch(() => {
      reads += 1;
      return undefined;
    });
    watch.look(place, 0);
    for (const [target, nowMs] of [
      ['two', 10],
      ['one', 100],
    ] as const) {
      symlinkSync(target, `${base}/new`);
      renameSync(`${base}/new`, `${base}/root`);
      watch.look(place, nowMs);
      assert.equal(watch.dueMs, target === 'two' ? 160 : null);
    }
    assert.equal(reads, 1);
  });
});
