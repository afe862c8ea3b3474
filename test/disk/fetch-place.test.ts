import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { asRealPath } from '../../src/core/path.ts';
import { runAtOnce } from '../../src/core/steps.ts';
import { type Fetched, type FetchRequest, fetchPlace } from '../../src/disk/fetch-place.ts';
import { type KernelWalk, kernelWalk, realpathWalk } from '../../src/disk/kernel-walk.ts';
import { needsRoot, runAsNobody } from '../support/nobody.ts';
import { makeTree } from '../support/tree.ts';

const WALKS: readonly (readonly [string, KernelWalk])[] = [
  ['kernelWalk()', kernelWalk()],
  ['realpathWalk()', realpathWalk()],
];

function request(base: string, path: string, more: Partial<FetchRequest> = {}): FetchRequest {
  const bounds = [{ path: asRealPath(join(base, 'root')), carved: [join(base, 'root/cut')] }];
  return { path: `${base}/${path}`, bounds, want: 'all', maxBytes: 100, maxEntries: 100, ...more };
}

function tree(t: TestContext): string {
  return makeTree(t, [
    'file root/a text',
    'dir root/sub',
    'file root/cut/secret no',
    'file outside/secret no',
    'link root/out -> ../outside/secret',
    'link root/in -> sub',
    'link root/dangling -> nowhere',
    'link root/cut-link -> cut',
    'fifo root/pipe',
  ]);
}

function brief(fetched: Fetched): unknown {
  if (!fetched.ok) return fetched.errno;
  const names = fetched.entries?.map(({ name, kind }) => `${kind} ${name}`).toSorted();
  return names ?? (fetched.base64 === null ? fetched.kind : Buffer.from(fetched.base64, 'base64').toString());
}

for (const [name, walk] of WALKS) {
  test(`fetchPlace() with ${name} gives what lies inside, and of all else that there is nothing`, (t) => {
    const base = tree(t);
    const rows: [path: string, expected: unknown][] = [
      ['root/a', 'text'],
      ['root', ['directory in', 'directory sub', 'file a']],
      ['root/in', []],
      ['root/../root/a', 'text'],
      ['root/out', 'ENOENT'],
      ['root/dangling', 'ENOENT'],
      ['root/cut', 'ENOENT'],
      ['root/cut/secret', 'ENOENT'],
      ['root/cut-link/secret', 'ENOENT'],
      ['root/pipe', 'ENOENT'],
      ['root/a/b', 'ENOENT'],
      ['root/nothing', 'ENOENT'],
      ['outside/secret', 'ENOENT'],
      ['outside', 'ENOENT'],
    ];
    for (const [path, expected] of rows) {
      assert.deepEqual(brief(runAtOnce(fetchPlace(request(base, path), walk))), expected, path);
    }
  });
}

test('a directory that may not be read is offered, nothing in it is, and all that lies beside it', {
  skip: needsRoot,
}, (t) => {
  const { fetched, completed } = JSON.parse(runAsNobody(t, './list-refused.ts'));
  assert.deepEqual(fetched, [['open', 'shut', 'unread'], 'ENOENT', 'ENOENT', 'ENOENT']);
  assert.deepEqual(completed, [['/open', '/shut/', '/unread'], [], []]);
});

test('fetchPlace() gives no more than is wanted', (t) => {
  const base = tree(t);
  const fetched = (path: string, more: Partial<FetchRequest>) =>
    brief(runAtOnce(fetchPlace(request(base, path, more), kernelWalk())));
  assert.equal(fetched('root', { want: 'look' }), 'directory');
  assert.equal(fetched('root/a', { want: 'look' }), 'file');
  assert.equal(fetched('root/a', { want: 'entries' }), 'file');
  assert.equal(fetched('root/a', { maxBytes: 4 }), 'text');
  assert.equal(fetched('root/a', { maxBytes: 3 }), 'file');
});

test('fetchPlace() gives the first entries by name and how many there are, or all of them', (t) => {
  const base = tree(t);
  for (const name of ['c', 'a', 'd', 'b']) writeFileSync(join(base, 'root/sub', name), '');
  const fetched = (want: FetchRequest['want']) => {
    const place = runAtOnce(fetchPlace(request(base, 'root/sub', { want, maxEntries: 3 }), kernelWalk()));
    return place.ok ? [place.total, place.entries?.map(({ name }) => name)] : place;
  };
  assert.deepEqual(fetched('all'), [4, ['a', 'b', 'c']]);
  const [total, names] = fetched('entries') as [number, string[]];
  assert.deepEqual([total, names.toSorted()], [4, ['a', 'b', 'c', 'd']]);
});

test('fetchPlace() lists every name that is text, and no other', (t) => {
  const base = tree(t);
  const names = ['a b', 'a\nb', 'ä', 'a\u0308', '\ufffd', '%41', '#?', '.dot', '\'"\\', '\u{1f600}', '\x7f'];
  for (const name of names) writeFileSync(join(base, 'root/sub', name), '');
  execFileSync('sh', ['-c', 'cd "$1" && : > "$(printf "b\\377")"', 'sh', join(base, 'root/sub')]);
  const fetched = runAtOnce(fetchPlace(request(base, 'root/sub'), kernelWalk()));
  assert.deepEqual(fetched.ok && fetched.entries?.map(({ name }) => name).toSorted(), names.toSorted());
});

test('fetchPlace() opens what was judged, whatever takes its place in between', (t) => {
  const base = tree(t);
  const walk = kernelWalk();
  const swaps: (() => void)[] = [
    () => {
      rmSync(join(base, 'root/a'));
      symlinkSync('../outside/secret', join(base, 'root/a'));
    },
    () => {
      renameSync(join(base, 'root/sub'), join(base, 'root/was'));
      symlinkSync('../outside', join(base, 'root/sub'));
    },
  ];
  mkdirSync(join(base, 'root/sub/deep'));
  writeFileSync(join(base, 'root/sub/secret'), 'mine');
  for (const [i, path] of ['root/a', 'root/sub/secret'].entries()) {
    let isSwapped = false;
    const swapping: KernelWalk = {
      ...walk,
      reach(asked) {
        const reached = walk.reach(asked);
        if (!isSwapped) swaps[i]?.();
        isSwapped = true;
        return reached;
      },
    };
    assert.equal(brief(runAtOnce(fetchPlace(request(base, path), swapping))), 'ENOENT', path);
  }
});

test('fetchPlace() gives another signature after every change', (t) => {
  const base = tree(t);
  const signature = (path: string) => {
    const fetched = runAtOnce(fetchPlace(request(base, path, { want: 'look' }), kernelWalk()));
    return fetched.ok && fetched.signature;
  };
  const before = [signature('root/a'), signature('root/sub')];
  assert.deepEqual([signature('root/a'), signature('root/sub')], before);
  writeFileSync(join(base, 'root/a'), 'longer text');
  writeFileSync(join(base, 'root/sub/new'), '');
  assert.notEqual(signature('root/a'), before[0]);
  assert.notEqual(signature('root/sub'), before[1]);
});
