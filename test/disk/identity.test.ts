import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { identityOf } from '../../src/disk/identity.ts';
import { makeTree } from '../support/tree.ts';

const identityAt = (path: string) => identityOf(statSync(path, { bigint: true }));

describe('identityOf()', () => {
  it('stays with a directory that is renamed', (t) => {
    const base = makeTree(t, ['dir a']);
    const before = identityAt(`${base}/a`);
    renameSync(`${base}/a`, `${base}/b`);
    assert.equal(identityAt(`${base}/b`), before);
    assert.match(before, /^\d+:\d+:\d+$/);
  });

  it('differs for a directory made again, though the file system gives its inode number anew', (t) => {
    const base = makeTree(t, ['dir a']);
    const before = statSync(`${base}/a`, { bigint: true });
    rmdirSync(`${base}/a`);
    waitForClockOf(base, before.birthtimeNs);
    mkdirSync(`${base}/a`);
    assert.notEqual(identityAt(`${base}/a`), identityOf(before));
  });
});

/** File systems stamp a birth by a clock that some kernels advance only every few milliseconds. */
function waitForClockOf(base: string, past: bigint): void {
  let birth = past;
  while (birth <= past) {
    mkdirSync(`${base}/probe`);
    birth = statSync(`${base}/probe`, { bigint: true }).birthtimeNs;
    rmdirSync(`${base}/probe`);
  }
}
