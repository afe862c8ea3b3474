import assert from 'node:assert/strict';
import { chmodSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nearestExisting, signatureOf, type WatchedPlace } from '../../src/policy/watch-signature.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

const TREE = [
  'file up/p/a.yaml one',
  'link up/p/b.yaml -> ../../links/1',
  'link links/1 -> 2',
  'link links/2 -> ../real/b.yaml',
  'file real/b.yaml two',
  'file real/c.yaml two',
  'dir up/p/sub',
];

function flip(path: string, target: string): void {
  symlinkSync(target, `${path}.new`);
  renameSync(`${path}.new`, path);
}

test('signatureOf() changes with all that a read or its trust depends on', (t) => {
  const rows: [string, (base: string) => void][] = [
    ['a file written in place', (base) => writeFileSync(join(base, 'up/p/a.yaml'), 'two')],
    [
      'a file written in place with its old times',
      (base) => {
        const { path, time } = { path: join(base, 'up/p/a.yaml'), time: new Date(0) };
        writeFileSync(path, 'two');
        utimesSync(path, time, time);
      },
    ],
    ['a file replaced', (base) => renameSync(join(base, 'real/c.yaml'), join(base, 'up/p/a.yaml'))],
    ['a file removed', (base) => rmSync(join(base, 'up/p/a.yaml'))],
    ['a file added', (base) => makeEntry(base, 'file up/p/c.yaml x')],
    ['a file renamed', (base) => renameSync(join(base, 'up/p/a.yaml'), join(base, 'up/p/d.yaml'))],
    ['a file’s mode', (base) => chmodSync(join(base, 'up/p/a.yaml'), 0o666)],
    ['a link’s target written', (base) => writeFileSync(join(base, 'real/b.yaml'), 'x')],
    ['a link’s target removed', (base) => rmSync(join(base, 'real/b.yaml'))],
    ['the first hop re-pointed', (base) => flip(join(base, 'up/p/b.yaml'), '../../real/c.yaml')],
    ['the second hop re-pointed', (base) => flip(join(base, 'links/1'), '../real/c.yaml')],
    ['the third hop re-pointed', (base) => flip(join(base, 'links/2'), '../real/c.yaml')],
    ['a link made a file', (base) => renameSync(join(base, 'real/b.yaml'), join(base, 'up/p/b.yaml'))],
    ['the directory’s mode', (base) => chmodSync(join(base, 'up/p'), 0o777)],
    ['the mode of a directory above', (base) => chmodSync(join(base, 'up'), 0o777)],
    ['the mode of the directory of a link’s target', (base) => chmodSync(join(base, 'real'), 0o777)],
    ['the directory removed', (base) => rmSync(join(base, 'up/p'), { recursive: true })],
    [
      'the directory replaced by an equal one',
      (base) => {
        renameSync(join(base, 'up/p'), join(base, 'old'));
        makeEntry(base, 'dir up/p');
      },
    ],
    [
      'a directory above replaced',
      (base) => {
        renameSync(join(base, 'up'), join(base, 'old'));
        makeEntry(base, 'file up/p/a.yaml one');
      },
    ],
    [
      'the directory made a file',
      (base) => {
        rmSync(join(base, 'up/p'), { recursive: true });
        makeEntry(base, 'file up/p x');
      },
    ],
  ];
  for (const [what, change] of rows) {
    const base = makeTree(t, TREE);
    const place: WatchedPlace = { path: join(base, 'up/p'), kind: 'directory' };
    const before = signatureOf(place).text;
    assert.equal(signatureOf(place).text, before);
    change(base);
    assert.notEqual(signatureOf(place).text, before, what);
  }
});

test('signatureOf() stays as it is when nothing changes that is read', (t) => {
  const rows: [string, (base: string) => void][] = [
    ['a dot file of an editor', (base) => makeEntry(base, 'file up/p/.a.yaml.swp x')],
    ['a file beside the directory', (base) => makeEntry(base, 'file up/q x')],
    ['a file in a directory below', (base) => makeEntry(base, 'file up/p/sub/x.yaml x')],
  ];
  for (const [what, change] of rows) {
    const base = makeTree(t, TREE);
    const place: WatchedPlace = { path: join(base, 'up/p'), kind: 'directory' };
    const before = signatureOf(place);
    change(base);
    assert.deepEqual(signatureOf(place), before, what);
  }
});

test('signatureOf() of a file changes with that file alone, through links, present or not', (t) => {
  const base = makeTree(t, [...TREE, 'link conf.yaml -> real/b.yaml']);
  const look = () => signatureOf({ path: join(base, 'conf.yaml'), kind: 'file' }).text;
  const seen = [look()];
  writeFileSync(join(base, 'other.yaml'), 'x');
  assert.equal(look(), seen[0]);
  const changes = [
    () => writeFileSync(join(base, 'real/b.yaml'), 'changed'),
    () => flip(join(base, 'conf.yaml'), 'real/c.yaml'),
    () => rmSync(join(base, 'conf.yaml')),
    () => writeFileSync(join(base, 'conf.yaml'), 'x'),
  ];
  for (const change of changes) {
    change();
    seen.push(look());
  }
  assert.equal(new Set(seen).size, 5);
});

test('signatureOf() has other anchors when a watch would hang on the wrong thing', (t) => {
  // what | change | do the watches have to be made anew
  const rows: [string, (base: string) => void, boolean][] = [
    [
      'a file replaced in the directory',
      (base) => renameSync(join(base, 'real/c.yaml'), join(base, 'up/p/a.yaml')),
      false,
    ],
    ['a mode', (base) => chmodSync(join(base, 'up/p/a.yaml'), 0o600), false],
    ['the directory removed', (base) => rmSync(join(base, 'up/p'), { recursive: true }), true],
    ['a hop re-pointed', (base) => flip(join(base, 'links/2'), '../real/c.yaml'), true],
    [
      'the directory above replaced',
      (base) => {
        renameSync(join(base, 'up'), join(base, 'old'));
        makeEntry(base, 'dir up/p');
      },
      true,
    ],
    ['the directory above gone', (base) => renameSync(join(base, 'up'), join(base, 'old')), true],
  ];
  for (const [what, change, anew] of rows) {
    const base = makeTree(t, TREE);
    const place: WatchedPlace = { path: join(base, 'up/p'), kind: 'directory' };
    const before = signatureOf(place).anchors;
    change(base);
    assert.equal(signatureOf(place).anchors !== before, anew, what);
  }
});

test('nearestExisting() is the deepest directory that is there', (t) => {
  const base = makeTree(t, ['dir a', 'file a/f']);
  assert.equal(nearestExisting(join(base, 'a')), join(base, 'a'));
  assert.equal(nearestExisting(join(base, 'a/f/x')), join(base, 'a'));
  assert.equal(nearestExisting(join(base, 'b/c/d')), base);
  assert.equal(nearestExisting('/'), '/');
});
