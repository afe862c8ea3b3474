import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readUser } from '../../src/disk/user-facts.ts';
import { makeTree } from '../support/tree.ts';

const PASSWD =
  'ana:x:1000:1000::/home/ana:/bin/sh\nbob:x:1001:100::/home/bob:/bin/sh\ncy:x:1002:7777::/home/cy:/bin/sh\n';
const GROUP = 'users:x:100:\nana:x:1000:\ndocker:x:999:bob,ana\nempty:x:998:\n';

test('readUser() gives name and groups of an account, and leaves out what is not certain', (t) => {
  const base = makeTree(t, [`file passwd ${PASSWD}`, `file group ${GROUP}`]);
  const sources = { passwdFile: join(base, 'passwd'), groupFile: join(base, 'group'), ownUid: 1 };
  const rows: readonly (readonly [uid: number, user: object])[] = [
    [1000, { uid: 1000, name: 'ana', groups: ['ana', 'docker'] }],
    [1001, { uid: 1001, name: 'bob', groups: ['users', 'docker'] }],
    // The primary group has no name: the list would not be whole.
    [1002, { uid: 1002, name: 'cy' }],
    [1003, { uid: 1003 }],
  ];
  for (const [uid, user] of rows) assert.deepEqual(readUser(uid, sources), user);
  assert.deepEqual(readUser(1000, { ...sources, groupFile: join(base, 'none') }), { uid: 1000, name: 'ana' });
});

test('readUser() names the own groups by what this process has', (t) => {
  const base = makeTree(t, [`file passwd ${PASSWD}`, `file group ${GROUP}`]);
  const sources = {
    passwdFile: join(base, 'passwd'),
    groupFile: join(base, 'group'),
    ownUid: process.geteuid?.() ?? -1,
  };
  const groups = (ownGids: readonly number[]) => readUser(sources.ownUid, { ...sources, ownGids }).groups;
  assert.deepEqual(groups([1000, 999, 1000]), ['ana', 'docker']);
  assert.deepEqual(groups([1000, 4242]), undefined);
});
