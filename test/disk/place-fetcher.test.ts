import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { asRealPath } from '../../src/core/path.ts';
import { kernelWalk } from '../../src/disk/kernel-walk.ts';
import { MountTable } from '../../src/disk/mounts.ts';
import { PlaceFetcher } from '../../src/disk/place-fetcher.ts';
import { FakeClock } from '../support/clock.ts';
import { mountLine } from '../support/mount-line.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';

const CLIENT = new AbortController().signal;

function requestFor(base: string, path: string) {
  const bounds = [{ path: asRealPath(base), carved: [] }];
  return { path: join(base, path), bounds, want: 'all', maxBytes: 100, maxEntries: 100_000 } as const;
}

test('PlaceFetcher lets others have their turn while it lists a large directory', async (t) => {
  const base = temporaryDirectory(t);
  for (let i = 0; i < 30_000; i++) writeFileSync(join(base, `entry-${i}`), '');
  using fetcher = new PlaceFetcher({ walk: kernelWalk(), mounts: new MountTable() });
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const fetched = await fetcher.fetch(requestFor(base, ''), CLIENT);
  isDone = true;
  assert.equal(fetched.ok && fetched.entries?.length, 30_000);
  assert.ok(turns > 2, `${turns} turns`);
});

for (const how of ['its client is gone', 'it is closed']) {
  test(`PlaceFetcher looks at nothing more once ${how}, and keeps nothing open`, async (t) => {
    const base = temporaryDirectory(t);
    for (let i = 0; i < 30_000; i++) writeFileSync(join(base, `entry-${i}`), '');
    using fetcher = new PlaceFetcher({ walk: kernelWalk(), mounts: new MountTable() });
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    const client = new AbortController();
    const order: string[] = [];
    const fetches = ['under way', 'waiting'].map(async (name) => {
      const { ok } = await fetcher.fetch(requestFor(base, ''), client.signal);
      order.push(`${name} ${ok}`);
    });
    if (how === 'it is closed') fetcher.close();
    else client.abort();
    await Promise.all(fetches);
    assert.deepEqual(order.toSorted(), ['under way false', 'waiting false']);
    assert.ok(open() <= before, `${open()} open, ${before} before`);
  });
}

test('PlaceFetcher answers one client while another one’s requests of a huge directory wait', async (t) => {
  const base = makeTree(t, ['dir huge', 'file small text']);
  for (let i = 0; i < 5_000; i++) writeFileSync(join(base, `huge/entry-${i}`), '');
  using fetcher = new PlaceFetcher({ walk: kernelWalk(), mounts: new MountTable() });
  const order: string[] = [];
  const fetch = async (path: string, client: AbortSignal) => {
    await fetcher.fetch(requestFor(base, path), client);
    order.push(path);
  };
  const greedy = Array.from({ length: 5 }, () => fetch('huge', CLIENT));
  await Promise.all([...greedy, fetch('small', new AbortController().signal)]);
  assert.ok(order.indexOf('small') <= 1, order.join());
});

test('PlaceFetcher leaves a mount that may hang to the helper, which judges as we do', async (t) => {
  const base = makeTree(t, ['file net/a text', 'link net/out -> ../other', 'file other/secret', 'link l -> net/a']);
  const file = join(base, 'mountinfo');
  writeFileSync(file, ['1 0 / ext4', `2 1 ${base}/net nfs4`].map(mountLine).join(''));
  const touched: string[] = [];
  const walk = kernelWalk();
  const watched = {
    ...walk,
    reach(path: string) {
      touched.push(path);
      return walk.reach(path);
    },
  };
  using fetcher = new PlaceFetcher({ walk: watched, mounts: new MountTable({ file }) });
  const alive = setInterval(() => {}, 60_000);
  t.after(() => clearInterval(alive));
  const content = async (path: string, root = base) => {
    const fetched = await fetcher.fetch({ ...requestFor(root, ''), path: join(base, path) }, CLIENT);
    if (!fetched.ok) return fetched.errno;
    return fetched.base64 === null ? fetched.entries : Buffer.from(fetched.base64, 'base64').toString();
  };
  assert.equal(await content('net/a'), 'text');
  assert.equal(await content('l'), 'text');
  assert.deepEqual(await content('net', join(base, 'net')), [{ name: 'a', kind: 'file' }]);
  assert.equal(await content('net/out/secret', join(base, 'net')), 'ENOENT');
  assert.deepEqual(touched, [], 'looked at by this process');
});

test('PlaceFetcher gives up where the helper does not answer', async (t) => {
  const base = makeTree(t, ['file net/a text', 'file hangs.mjs process.stdin.resume()']);
  const file = join(base, 'mountinfo');
  writeFileSync(file, ['1 0 / ext4', `2 1 ${base}/net nfs4`].map(mountLine).join(''));
  const clock = new FakeClock();
  const script = join(base, 'hangs.mjs');
  using fetcher = new PlaceFetcher({ walk: kernelWalk(), mounts: new MountTable({ file }), clock, script });
  const alive = setInterval(() => {}, 60_000);
  t.after(() => clearInterval(alive));
  const first = fetcher.fetch(requestFor(base, 'net/a'), CLIENT);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  // It never says that it has started.
  clock.advance(10_000);
  const fetched = await first;
  assert.match(fetched.ok ? '' : fetched.why, /does not answer/);
  // It is not asked again at once.
  const again = await fetcher.fetch(requestFor(base, 'net/a'), CLIENT);
  assert.match(again.ok ? '' : again.why, /does not answer/);
});

/** A helper that answers nothing before a file is there. */
function answersOnce(there: string): string {
  return `import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
console.log('ready');
for await (const _ of createInterface({ input: process.stdin })) {
  while (!existsSync(${JSON.stringify(there)})) await new Promise((resolve) => setTimeout(resolve, 5));
  console.log('{"ok":true}');
}`;
}

test('PlaceFetcher answers one client while all that another one asks of a slow mount waits', async (t) => {
  const base = makeTree(t, ['dir net']);
  const [file, script, there] = ['mountinfo', 'helper.mjs', 'there'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(file, ['1 0 / ext4', `2 1 ${base}/net nfs4`].map(mountLine).join(''));
  writeFileSync(script, answersOnce(there));
  let looks = 0;
  const looked = new Map<number, () => void>();
  class Mounts extends MountTable {
    override refresh(): void {
      super.refresh();
      looks += 1;
      looked.get(looks)?.();
    }
  }
  using fetcher = new PlaceFetcher({
    walk: kernelWalk(),
    mounts: new Mounts({ file }),
    clock: new FakeClock(),
    script,
  });
  const alive = setInterval(() => {}, 60_000);
  t.after(() => clearInterval(alive));
  const order: string[] = [];
  const fetch = async (path: string, client: AbortSignal) => {
    await fetcher.fetch(requestFor(base, path), client);
    order.push(path);
  };
  const [all, more] = [10, 11].map((count) => new Promise<void>((resolve) => looked.set(count, resolve)));
  const greedy = Array.from({ length: 10 }, () => fetch('net/a', CLIENT));
  // Each has got to where it can only wait for the mount.
  await all;
  const other = fetch('net/b', new AbortController().signal);
  await more;
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  writeFileSync(there, '');
  await Promise.all([...greedy, other]);
  assert.ok(order.indexOf('net/b') <= 1, order.join());
});

test('PlaceFetcher answers what waits for a slow mount when it is closed', async (t) => {
  const base = makeTree(t, ['file net/a text', 'file hangs.mjs process.stdin.resume()']);
  const file = join(base, 'mountinfo');
  writeFileSync(file, ['1 0 / ext4', `2 1 ${base}/net nfs4`].map(mountLine).join(''));
  const fetcher = new PlaceFetcher({
    walk: kernelWalk(),
    mounts: new MountTable({ file }),
    script: join(base, 'hangs.mjs'),
  });
  const waiting = ['under way', 'waiting'].map(() => fetcher.fetch(requestFor(base, 'net/a'), CLIENT));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  fetcher.close();
  for (const fetched of await Promise.all(waiting)) assert.match(fetched.ok ? '' : fetched.why, /does not answer/);
});
