import assert from 'node:assert/strict';
import { chownSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findAccount, privateGidOf, readAccount } from '../../src/disk/account.ts';
import { makeTree } from '../support/tree.ts';

const PASSWD = [
  'root:x:0:0:root:/root:/bin/bash',
  '# a comment',
  '',
  'half a line',
  'ana:x:1000:1000:Ana,,,:/home/ana:/bin/zsh',
  'bob:x:1001:1001::/home/bob:',
  'eve:x:1002:1001::/home/eve:/bin/sh',
  'kim:x:1003:1003::/home/kim:/bin/sh',
  'joe:x:1004:100::/home/joe:/bin/sh',
  'lea:x:1005:1005::/home/lea:/bin/sh',
];
const GROUP = ['root:x:0:', 'users:x:100:', 'ana:x:1000:ana', 'bob:x:1001:', 'kim:x:1003:kim,eve'];

function sources(t: TestContext) {
  const base = makeTree(t, [`file passwd ${PASSWD.join('\n')}\n`, `file group ${GROUP.join('\n')}\n`, 'dir home']);
  return { base, passwdFile: join(base, 'passwd'), groupFile: join(base, 'group'), ownUid: -1 };
}

test('readAccount() finds a uid in the user database', (t) => {
  const expected = { uid: 1000, gid: 1000, name: 'ana', home: '/home/ana', shell: '/bin/zsh' };
  assert.deepEqual(readAccount(1000, sources(t)), expected);
  assert.equal(readAccount(1001, sources(t))?.shell, '');
  assert.equal(readAccount(4711, sources(t)), null);
  assert.equal(readAccount(1000, { passwdFile: '/does/not/exist', ownUid: -1 }), null);
});

test('readAccount() asks the C library for our own account, never $HOME', (t) => {
  const before = process.env.HOME;
  t.after(() => {
    if (before === undefined) delete process.env.HOME;
    else process.env.HOME = before;
  });
  process.env.HOME = '/from/the/environment';
  const { uid, username, homedir } = userInfo();
  const account = readAccount(uid, { passwdFile: '/does/not/exist' });
  assert.equal(account?.name, username);
  assert.equal(account?.home, homedir);
  assert.notEqual(account?.home, '/from/the/environment');
});

test('findAccount() believes $HOME of an unlisted uid only where that uid owns it', (t) => {
  const from = sources(t);
  const home = join(from.base, 'home');
  const own = process.getuid?.() ?? -1;
  const unlisted = { ...from, passwdFile: '/does/not/exist' };
  assert.deepEqual([findAccount(own, home, unlisted).home, findAccount(own, home, unlisted).name], [home, `${own}`]);
  // env HOME | why it is not believed
  const rows: [string | undefined, string][] = [
    [undefined, 'not set'],
    ['home', 'not absolute'],
    [join(from.base, 'none'), 'not there'],
    [join(from.base, 'passwd'), 'not a directory'],
  ];
  for (const [envHome, why] of rows) assert.equal(findAccount(own, envHome, unlisted).home, null, why);
  assert.equal(findAccount(own + 1, home, unlisted).home, null, 'somebody else’s');
  assert.equal(findAccount(1000, home, from).home, '/home/ana', 'listed');
});

test('findAccount() believes $HOME that was given to the unlisted uid', (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root: chown');
  const from = sources(t);
  const home = join(from.base, 'home');
  chownSync(home, 4711, 4711);
  assert.equal(findAccount(4711, home, from).home, home);
});

test('privateGidOf() is the group named like its user with nobody else in it', (t) => {
  const from = sources(t);
  // uid | expected | why
  const rows: [number, number | undefined, string][] = [
    [1000, 1000, 'alone in it'],
    [1001, undefined, 'is the first group of somebody else too'],
    [1003, undefined, 'has another member'],
    [1004, undefined, 'is named otherwise'],
    [1005, undefined, 'is not listed'],
    [0, 0, 'root'],
  ];
  for (const [uid, expected, why] of rows) {
    const account = readAccount(uid, from);
    assert.ok(account);
    assert.equal(privateGidOf(account, from), expected, why);
  }
});
