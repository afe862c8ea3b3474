import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUser } from '../../src/core/rule.ts';

test('parseUser() reads a login name, a uid and a group, and nothing else', () => {
  const rows: [string, ReturnType<typeof parseUser>][] = [
    ['ana', { kind: 'name', name: 'ana' }],
    ['uid', { kind: 'name', name: 'uid' }],
    ['1000', { kind: 'name', name: '1000' }],
    ['uid:0', { kind: 'uid', uid: 0 }],
    ['uid:1000', { kind: 'uid', uid: 1000 }],
    ['%developers', { kind: 'group', group: 'developers' }],
    ['', null],
    ['uid:', null],
    ['uid:abc', null],
    ['uid:01', null],
    ['uid:-1', null],
    ['%', null],
    ['%%a', null],
    ['a:b', null],
    ['a,b', null],
    ['a b', null],
    ['a\n', null],
  ];
  for (const [text, user] of rows) assert.deepEqual(parseUser(text), user, JSON.stringify(text));
});
