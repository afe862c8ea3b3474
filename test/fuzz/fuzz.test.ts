// The fuzzing in its short form, with seeds that are always the same; `npm run fuzz` goes on with others.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Coverage } from './coverage.ts';
import { fuzzSockets } from './fuzz-sockets.ts';
import { fuzzTarget, type Verdict } from './fuzz-target.ts';

function holds({ ok, text }: Verdict): void {
  assert.ok(ok, text);
}

describe('nothing that is read from others breaks a promise', () => {
  it('the text of a URI', async () => holds(await fuzzTarget('uris', { cases: 4_000, seed: 1 })));
  it('the bytes of a connection', async () => holds(await fuzzTarget('messages', { cases: 3_000, seed: 1 })));
  it('the text of a policy, of rootsd.yaml and of a project file', async () =>
    holds(await fuzzTarget('policies', { cases: 160, seed: 1 })));
  it('lines on all sockets of a daemon', async () => holds(await fuzzSockets({ cases: 4_000, seed: 1 })));
});

describe('the fuzzing itself', () => {
  it('reports the input that broke a promise', async () => {
    const { ok, text } = await fuzzTarget('broken', { cases: 400, seed: 1 });
    assert.equal(ok, false);
    assert.match(text, /^broken: FAILED \(seed 1\), input kept in \S+: ".*!.*"/);
  });

  it('reports an input that has no end', async () => {
    const { ok, text } = await fuzzTarget('endless', { cases: 400, seed: 1, hangMs: 500 });
    assert.equal(ok, false);
    assert.match(text, /^endless: FAILED \(seed 1\), input kept in \S+: ".*!.*"\nno end after 500 ms$/);
  });

  it('keeps the inputs that reach what none before them has reached', async (t) => {
    const { parseFileUri } = await import('../../src/core/path.ts');
    const coverage = new Coverage();
    t.after(() => coverage.close());
    coverage.news(['file:///a'], parseFileUri);
    assert.deepEqual(coverage.news(['file:///b', 'file:///c', 'file:///a?b', 'file:///d'], parseFileUri), [
      'file:///a?b',
    ]);
    assert.deepEqual(coverage.news(['file:///e', 'file:///a?c'], parseFileUri), []);
  });
});
