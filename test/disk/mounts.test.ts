import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { MountTable, parseMountInfo } from '../../src/disk/mounts.ts';
import { mountLine } from '../support/mount-line.ts';
import { temporaryDirectory } from '../support/tree.ts';

function openTable(t: TestContext, lines: readonly string[]) {
  const file = `${temporaryDirectory(t)}/mountinfo`;
  const write = (all: readonly string[]) => writeFileSync(file, all.map(mountLine).join(''));
  write(lines);
  const table = new MountTable({ file });
  t.after(() => table.close());
  return { table, write };
}

const MACHINE = ['20 1 / ext4', '21 20 /proc proc', '22 20 /home ext4', '23 22 /home/ana/nfs nfs4 ro'];

test('parseMountInfo() reads points with blanks, types and read-only mounts, and leaves out what is no line', () => {
  const text = [
    '36 35 98:0 /mnt1 /mnt/two\\040words\\134x rw,noatime - ext3 /dev/root rw',
    '37 36 0:40 / /mnt/ro ro,nosuid master:1 - fuse.sshfs host: rw,user_id=0',
    '38 36 0:41 / /mnt/sro rw shared:7 - tmpfs none ro',
    'nonsense',
    '',
  ].join('\n');
  assert.deepEqual(parseMountInfo(text), [
    { id: '36', parent: '35', point: '/mnt/two words\\x', type: 'ext3', isReadOnly: false },
    { id: '37', parent: '36', point: '/mnt/ro', type: 'fuse.sshfs', isReadOnly: true },
    { id: '38', parent: '36', point: '/mnt/sro', type: 'tmpfs', isReadOnly: true },
  ]);
});

test('mountOf() gives the mount in which a path lies, by component', (t) => {
  const { table } = openTable(t, MACHINE);
  const rows = {
    '/': '20',
    '/etc': '20',
    '/homes': '20',
    '/home': '22',
    '/home/ana/nfs/a/b': '23',
    '/home/ana/nf': '22',
  };
  for (const [path, id] of Object.entries(rows)) assert.equal(table.mountOf(path)?.id, id, path);
});

test('mountOf() knows which of several mounts lies on top, and that a later one hides those below it', (t) => {
  const { table } = openTable(t, [
    ...MACHINE,
    '30 23 /home/ana/nfs tmpfs',
    '31 20 /srv ext4',
    '32 20 /home/ana/nfs/no xfs',
  ]);
  assert.equal(table.mountOf('/home/ana/nfs/x')?.id, '30');
  const { table: hiding } = openTable(t, [...MACHINE, '33 22 /home tmpfs']);
  assert.equal(hiding.mountOf('/home/ana/nfs')?.id, '33');
  assert.equal(hiding.isMountPoint('/home/ana/nfs'), false);
  assert.equal(hiding.isMountPoint('/home'), true);
  assert.equal(hiding.isMountPoint('/hom'), false);
});

test('takeChanges() tells each change once: mounted, unmounted, mounted otherwise', (t) => {
  const { table, write } = openTable(t, MACHINE);
  assert.deepEqual(table.takeChanges(), []);
  write([...MACHINE.slice(0, 2), '22 20 /home ext4 ro', '40 20 /new xfs']);
  table.refresh();
  assert.equal(table.hasChanges, true);
  const changes = table
    .takeChanges()
    .map(({ point, before, after }) => [point, before?.id, after?.id, after?.isReadOnly]);
  assert.deepEqual(changes, [
    ['/home', '22', '22', true],
    ['/home/ana/nfs', '23', undefined, undefined],
    ['/new', undefined, '40', false],
  ]);
  assert.deepEqual(table.takeChanges(), []);
});

test('a table is empty where there is none', () => {
  using table = new MountTable({ file: '/nowhere/mountinfo', mountsChanged: () => true });
  assert.deepEqual([table.mountOf('/'), table.isPolled, table.takeChanges()], [undefined, false, []]);
});

test('a table that is told of changes is read only then', (t) => {
  const file = `${temporaryDirectory(t)}/mountinfo`;
  writeFileSync(file, mountLine('20 1 / ext4'));
  let hasChanged = false;
  using table = new MountTable({ file, mountsChanged: () => hasChanged });
  writeFileSync(file, mountLine('21 1 / ext4'));
  assert.deepEqual(table.takeChanges(), []);
  hasChanged = true;
  assert.equal(table.takeChanges().length, 1);
});
