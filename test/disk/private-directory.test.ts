import assert from 'node:assert/strict';
import { chmodSync, chownSync, lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RootsError } from '../../src/core/errors.ts';
import { checkPrivateDirectory, makePrivateDirectory } from '../../src/disk/private-directory.ts';
import { makeTree } from '../support/tree.ts';

const OWNER = { uid: process.getuid?.() ?? -1 };
const NOT_ROOT = process.getuid?.() === 0 ? false : 'needs root: chown';
const STRANGER = 65_534;

test('makePrivateDirectory() makes what is missing, all of it 0700 whatever the umask', (t) => {
  const base = makeTree(t, []);
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  makePrivateDirectory(join(base, 'a/b/c'), OWNER);
  for (const part of ['a', 'a/b', 'a/b/c']) assert.equal(statSync(join(base, part)).mode & 0o777, 0o700, part);
});

test('makePrivateDirectory() makes an empty directory private where others could read it', (t) => {
  const base = makeTree(t, ['dir d']);
  chmodSync(join(base, 'd'), 0o755);
  makePrivateDirectory(join(base, 'd'), OWNER);
  assert.equal(statSync(join(base, 'd')).mode & 0o777, 0o700);
});

test('makePrivateDirectory() closes no directory that is in use: it may be a home, or `/run`', (t) => {
  const base = makeTree(t, ['dir d/public']);
  chmodSync(join(base, 'd'), 0o755);
  makePrivateDirectory(join(base, 'd'), OWNER);
  assert.equal(statSync(join(base, 'd')).mode & 0o777, 0o755);
});

test('checkPrivateDirectory() changes nothing', (t) => {
  const base = makeTree(t, ['dir d']);
  chmodSync(join(base, 'd'), 0o755);
  checkPrivateDirectory(join(base, 'd'), OWNER);
  assert.equal(statSync(join(base, 'd')).mode & 0o777, 0o755);
  assert.throws(() => checkPrivateDirectory(join(base, 'd/none'), OWNER), { code: 'ENOENT' });
});

test('a private directory may lie behind links of ours and in sticky directories', (t) => {
  const base = makeTree(t, ['dir real/state', 'link absolute -> /', 'link relative -> real', 'dir tmp/mine']);
  chmodSync(join(base, 'tmp'), 0o1777);
  checkPrivateDirectory(join(base, 'relative/state'), OWNER);
  checkPrivateDirectory(join(base, 'absolute', base, 'real/../relative/state'), OWNER);
  checkPrivateDirectory(join(base, 'tmp/mine'), OWNER);
});

test('a private directory is refused where others could write in it or swap it', (t) => {
  // tree | mode of a part | path | what is said
  const rows: [string[], [string, number], string, RegExp][] = [
    [['dir d'], ['d', 0o777], 'd', /is writable by others$/],
    [['dir d'], ['d', 0o1777], 'd', /is writable by others$/],
    [['dir d'], ['d', 0o770], 'd', /is writable by others$/],
    [['dir open/d'], ['open', 0o757], 'open/d', /"[^"]*open" is writable by others$/],
    [['dir real', 'link d -> real'], ['real', 0o700], 'd', /is a link$/],
    [['link d -> nowhere'], ['.', 0o700], 'd', /is a link$/],
    [['link a -> b', 'link b -> a'], ['.', 0o700], 'a/d', /is a link$/],
    [['file d'], ['d', 0o600], 'd', /is not a directory$/],
    [['file f'], ['f', 0o600], 'f/d', /is not a directory$/],
    [['fifo d'], ['d', 0o600], 'd', /is not a directory$/],
  ];
  for (const [tree, [part, mode], path, message] of rows) {
    const base = makeTree(t, tree);
    chmodSync(join(base, part), mode);
    assert.throws(() => makePrivateDirectory(join(base, path), OWNER), { code: 'DIRECTORY_UNSAFE', message }, path);
    assert.throws(() => checkPrivateDirectory(join(base, path), OWNER), { code: 'DIRECTORY_UNSAFE', message }, path);
    if (lstatSync(join(base, part)).isDirectory()) assert.equal(statSync(join(base, part)).mode & 0o1777, mode, path);
  }
});

test('a private directory that may be mended is told apart from one that is shared on purpose', (t) => {
  const hintFor = (mode: number): string | undefined => {
    const base = makeTree(t, ["dir it's"]);
    const path = join(base, "it's");
    chmodSync(path, mode);
    try {
      makePrivateDirectory(path, OWNER);
    } catch (error) {
      return (error as RootsError).hint?.replace(base, '');
    }
    return undefined;
  };
  assert.equal(hintFor(0o777), "Run: chmod go-w '/it'\\''s'");
  assert.equal(hintFor(0o1777), 'Choose a directory of your own, for example "~/.rootsd"');
});

test('a private directory is refused where it, a part or a link on the way belongs to another user', {
  skip: NOT_ROOT,
}, (t) => {
  const base = makeTree(t, ['dir d', 'dir theirs/d', 'dir real/d', 'link hop -> real']);
  for (const part of ['d', 'theirs']) chownSync(join(base, part), STRANGER, STRANGER);
  const message = /belongs to uid 65534, it must belong to root or to uid 0$/;
  for (const path of ['d', 'theirs/d']) {
    assert.throws(() => checkPrivateDirectory(join(base, path), OWNER), { code: 'DIRECTORY_UNSAFE', message });
  }
});

test('a private directory may be reached through root’s directories but must itself be ours', {
  skip: NOT_ROOT,
}, (t) => {
  const base = makeTree(t, ['dir roots', 'dir home/state']);
  const owner = { uid: STRANGER };
  for (const part of ['home', 'home/state']) chownSync(join(base, part), STRANGER, STRANGER);
  makePrivateDirectory(join(base, 'home/state'), owner);
  const message = /belongs to uid 0, it must belong to uid 65534$/;
  assert.throws(() => makePrivateDirectory(join(base, 'roots'), owner), { code: 'DIRECTORY_UNSAFE', message });
});

test('a private directory may be writable by the group that is the user’s own', (t) => {
  const base = makeTree(t, ['dir local/state']);
  for (const part of ['local', 'local/state']) chmodSync(join(base, part), 0o775);
  const { gid } = statSync(join(base, 'local'));
  const path = join(base, 'local/state');
  assert.throws(() => makePrivateDirectory(path, { ...OWNER, privateGid: gid + 1 }), { code: 'DIRECTORY_UNSAFE' });
  makePrivateDirectory(path, { ...OWNER, privateGid: gid });
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.equal(statSync(join(base, 'local')).mode & 0o777, 0o775);
});
