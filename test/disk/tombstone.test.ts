import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename } from 'node:path';
import { describe, it } from 'node:test';
import { Tombstone } from '../../src/disk/tombstone.ts';
import { makeTree } from '../support/tree.ts';

const uid = process.getuid?.() ?? 0;
const OTHER_UID = 65_534;
const needsRoot = uid === 0 ? false : 'needs a directory that is root’s';

describe('Tombstone', () => {
  it('makes an empty directory that nobody can write, once, and removes it', (t) => {
    const base = makeTree(t, ['dir run']);
    const tombstone = new Tombstone({
      uid,
      runtimeDirectories: [`${base}/none`, `${base}/run`],
      systemDirectories: [],
    });
    const path = tombstone.use();
    assert.match(path, new RegExp(`^${base}/run/empty-[0-9a-f]{16}$`));
    assert.equal(statSync(path).mode & 0o777, 0o500);
    assert.equal(tombstone.use(), path);
    const _meta = { 'io.rootsd/access': 'none' };
    assert.deepEqual(tombstone.root(), { uri: `file://${path}`, name: 'no access (rootsd)', _meta });
    tombstone.close();
    assert.equal(existsSync(path), false);
  });

  it('removes what a process that is gone has left, and nothing else', (t) => {
    const base = makeTree(t, ['dir run']);
    const hex = (pid: number): string => pid.toString(16).padStart(6, '0');
    const gone = hex(spawnSync('true').pid);
    const made = (name: string, mode: number, content = ''): string => {
      mkdirSync(`${base}/run/${name}/${content}`, { recursive: true });
      chmodSync(`${base}/run/${name}`, mode);
      return name;
    };
    const stale = made(`empty-0123456789${gone}`, 0o500);
    const kept = [
      made(`empty-0123456789${hex(process.pid)}`, 0o500),
      made(`empty-1111111111${gone}`, 0o700),
      made(`empty-0123${gone}`, 0o500),
      made(`empty-2222222222${gone}`, 0o500, 'x'),
      made('other', 0o500),
    ];
    const tombstone = new Tombstone({ uid, runtimeDirectories: [`${base}/run`], systemDirectories: [] });
    t.after(() => tombstone.close());
    const mine = basename(tombstone.use());
    assert.deepEqual(readdirSync(`${base}/run`).sort(), [...kept, mine].sort());
    assert.equal(existsSync(`${base}/run/${stale}`), false);
    for (const name of kept) chmodSync(`${base}/run/${name}`, 0o700);
  });

  it('names the canonical path of what it made', (t) => {
    const base = makeTree(t, ['dir run', 'link l -> run']);
    const tombstone = new Tombstone({ uid, runtimeDirectories: [`${base}/l`], systemDirectories: [] });
    t.after(() => tombstone.close());
    assert.ok(tombstone.use().startsWith(`${base}/run/`));
  });

  /** What somebody may do to it; then another one is made, and what is not ours stays. */
  const ROWS: readonly (readonly [string, (path: string, base: string) => void])[] = [
    [
      'filled',
      (path) => {
        chmodSync(path, 0o700);
        writeFileSync(`${path}/f`, '');
        chmodSync(path, 0o500);
      },
    ],
    ['made writable', (path) => chmodSync(path, 0o700)],
    ['removed', (path) => rmSync(path, { recursive: true })],
    [
      'replaced by a link',
      (path, base) => {
        rmSync(path, { recursive: true });
        symlinkSync(`${base}/secret`, path);
      },
    ],
    [
      'replaced by another directory',
      (path) => {
        const { ino } = statSync(path);
        rmSync(path, { recursive: true });
        mkdirSync(path, { mode: 0o500 });
        // It may get the inode number that has become free: then that is kept busy.
        if (statSync(path).ino !== ino) return;
        renameSync(path, `${path}.same`);
        mkdirSync(path, { mode: 0o500 });
      },
    ],
  ];
  for (const [what, act] of ROWS) {
    it(`is another one once it was ${what}`, (t) => {
      const made = { path: '' };
      // Who is not root can remove nothing in a directory that is closed.
      t.after(() => existsSync(made.path) && chmodSync(made.path, 0o700));
      const base = makeTree(t, ['dir run', 'file secret/f x']);
      const tombstone = new Tombstone({ uid, runtimeDirectories: [`${base}/run`], systemDirectories: [] });
      t.after(() => tombstone.close());
      const first = tombstone.use();
      made.path = first;
      act(first, base);
      const second = tombstone.use();
      assert.notEqual(second, first);
      assert.deepEqual(readdirSync(second), []);
      assert.ok(existsSync(`${base}/secret/f`));
    });
  }

  it('is one of the system where we are not root: empty, and writable by root alone', { skip: needsRoot }, (t) => {
    const base = makeTree(t, ['dir good', 'file full/f x', 'dir open', 'dir run', 'link link -> good']);
    chmodSync(`${base}/open`, 0o777);
    const bad = [`${base}/none`, `${base}/full`, `${base}/open`, `${base}/link`];
    const options = { uid: OTHER_UID, runtimeDirectories: [`${base}/run`] };
    const tombstone = new Tombstone({ ...options, systemDirectories: [...bad, `${base}/good`] });
    assert.equal(tombstone.use(), `${base}/good`);
    tombstone.close();
    assert.ok(existsSync(`${base}/good`));
    assert.equal(statSync(base).isDirectory(), true);
  });

  it('is never one of the system for root, who could write there', { skip: needsRoot }, (t) => {
    const base = makeTree(t, ['dir good', 'dir run']);
    const tombstone = new Tombstone({
      uid: 0,
      runtimeDirectories: [`${base}/run`],
      systemDirectories: [`${base}/good`],
    });
    t.after(() => tombstone.close());
    assert.ok(tombstone.use().startsWith(`${base}/run/`));
  });

  it('throws where none can be made', (t) => {
    const base = makeTree(t, ['file f x']);
    const tombstone = new Tombstone({ uid, runtimeDirectories: [`${base}/f`, `${base}/none`], systemDirectories: [] });
    assert.throws(() => tombstone.use(), { code: 'TOMBSTONE_FAILED' });
  });
});
