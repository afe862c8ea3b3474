import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { runAtOnce } from '../../src/core/steps.ts';
import { DirectoryWatches } from '../../src/disk/directory-watches.ts';
import { makeEntry, makeTree } from '../support/tree.ts';

/** Watches for subjects that are just names, and the hints that arrive. */
function openWatches(t: TestContext) {
  const hints: string[] = [];
  let arrived = () => {};
  const watches = new DirectoryWatches<string>({
    mayTouch: () => true,
    onHint: (subject) => {
      hints.push(subject);
      arrived();
    },
    onExhausted: () => assert.fail('There must be enough watches for this test'),
  });
  const alive = setInterval(() => {}, 60_000);
  t.after(() => {
    clearInterval(alive);
    watches.close();
  });
  const until = async (subject: string) => {
    while (!hints.includes(subject)) {
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    }
  };
  return { watches, hints, until };
}

describe('DirectoryWatches', () => {
  it('tells those alone who want to hear of an entry, over one watch', async (t) => {
    const base = makeTree(t, []);
    const { watches, hints, until } = openWatches(t);
    watches.want('a', [{ directory: base, names: ['a'] }]);
    watches.want('b', [{ directory: base, names: ['b'] }]);
    watches.want('all', [{ directory: base, names: null }]);
    assert.deepEqual(watches.counts(), { watched: 1, unwatched: 0 });
    makeEntry(base, 'dir b');
    await until('b');
    assert.equal(hints.includes('a'), false);
    await until('all');
  });

  it('tells everybody that the directory itself has gone', async (t) => {
    const base = makeTree(t, ['dir d']);
    const { watches, until } = openWatches(t);
    watches.want('a', [{ directory: `${base}/d`, names: ['a'] }]);
    rmdirSync(`${base}/d`);
    await until('a');
  });

  it('hangs on the directory that has the name, as soon as it is asked to verify', async (t) => {
    const base = makeTree(t, ['dir d']);
    const { watches, hints, until } = openWatches(t);
    watches.want('a', [{ directory: `${base}/d`, names: ['a'] }]);
    renameSync(`${base}/d`, `${base}/old`);
    await until('a');
    runAtOnce(watches.verify());
    assert.deepEqual(watches.counts(), { watched: 0, unwatched: 1 });
    mkdirSync(`${base}/d`);
    runAtOnce(watches.verify());
    assert.deepEqual(watches.counts(), { watched: 1, unwatched: 0 });
    hints.length = 0;
    makeEntry(base, 'dir d/a');
    await until('a');
  });

  it('closes a watch that nobody wants any more', (t) => {
    const base = makeTree(t, ['dir d']);
    const { watches } = openWatches(t);
    watches.want('a', [{ directory: base, names: ['a'] }]);
    watches.want('b', [{ directory: base, names: ['b'] }]);
    assert.equal(watches.want('a', [{ directory: `${base}/d`, names: ['a'] }]), true);
    assert.equal(watches.counts().watched, 2);
    watches.forget('b');
    assert.equal(watches.counts().watched, 1);
    watches.forget('a');
    assert.equal(watches.counts().watched, 0);
  });
});
