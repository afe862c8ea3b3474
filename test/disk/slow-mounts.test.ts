import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { kernelWalk } from '../../src/disk/kernel-walk.ts';
import { MountTable } from '../../src/disk/mounts.ts';
import { canHang, guardWalk, SlowMounts } from '../../src/disk/slow-mounts.ts';
import { mountLine } from '../support/mount-line.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';

function slowMounts(t: TestContext, lines: readonly string[]): SlowMounts {
  const file = `${temporaryDirectory(t)}/mountinfo`;
  writeFileSync(file, lines.map(mountLine).join(''));
  const table = new MountTable({ file });
  t.after(() => table.close());
  return new SlowMounts(table);
}

test('canHang() knows the types behind which somebody else must answer', () => {
  const can = [
    'nfs',
    'nfs4',
    'cifs',
    'smb3',
    'fuse',
    'fuseblk',
    'fuse.sshfs',
    'fuse.gvfsd-fuse',
    '9p',
    'autofs',
    'ceph',
  ];
  const cannot = ['ext4', 'xfs', 'btrfs', 'tmpfs', 'overlay', 'proc', 'zfs', 'nfsd', 'fusectl', ''];
  assert.deepEqual(can.filter(canHang), can);
  assert.deepEqual(cannot.filter(canHang), []);
});

test('covering() is by component, by the topmost mount, and never the one that holds this program', (t) => {
  const slow = slowMounts(t, [
    '1 0 / nfs4',
    '2 1 /net nfs4',
    '3 2 /net/over ext4',
    '4 1 /auto autofs',
    '5 4 /auto tmpfs',
  ]);
  const rows = {
    '/': null,
    '/etc': null,
    '/net': '2',
    '/net/a/b': '2',
    '/network': null,
    '/net/over/x': null,
    '/auto': null,
  };
  for (const [path, id] of Object.entries(rows)) assert.equal(slow.covering(path)?.id ?? null, id, path);
});

test('onTheWay() finds the mount through links, before anybody touches it', (t) => {
  const base = makeTree(t, [
    'dir net/a',
    'dir local/a',
    'link one -> two',
    'link two -> net/a',
    'link back -> net/../local',
  ]);
  const slow = slowMounts(t, ['1 0 / ext4', `2 1 ${base}/net nfs4`]);
  const rows = { net: '2', 'one/x': '2', 'local/../net': '2', local: null, missing: null, back: '2' };
  for (const [path, id] of Object.entries(rows)) assert.equal(slow.onTheWay(`${base}/${path}`)?.id ?? null, id, path);
});

test('guardWalk() fails with the mount where it would have to enter one', (t) => {
  const base = makeTree(t, ['dir net/a', 'dir local', 'link l -> net/a']);
  const walk = guardWalk(kernelWalk(), slowMounts(t, ['1 0 / ext4', `2 1 ${base}/net fuse.sshfs`]));
  const reached = walk.reach(`${base}/l`);
  assert.ok(!reached.ok);
  assert.deepEqual([reached.errno, reached.slow?.point], [null, `${base}/net`]);
  assert.equal(walk.reach(`${base}/local`).ok, true);
});
