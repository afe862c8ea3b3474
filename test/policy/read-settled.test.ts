import assert from 'node:assert/strict';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { STABLE_MS } from '../../src/core/settling.ts';
import { readSettled } from '../../src/policy/read-settled.ts';
import { FakeClock } from '../support/clock.ts';
import { makeTree } from '../support/tree.ts';

describe('readSettled()', () => {
  it('reads what was written at once, when it is whole', async (t) => {
    const base = makeTree(t, ['file p/a.yaml allow']);
    const file = join(base, 'p/a.yaml');
    const rest = ['allow, deny', 'allow, deny, ceiling'];
    // Each step comes well within the time that a file must have been quiet.
    const writing = setInterval(() => {
      const text = rest.shift();
      if (text === undefined) clearInterval(writing);
      else writeFileSync(file, text);
    }, 60);
    t.after(() => clearInterval(writing));
    assert.equal(await readSettled(join(base, 'p'), async () => readFileSync(file, 'utf8')), 'allow, deny, ceiling');
  });

  it('reads again what has changed while it was read', async (t) => {
    const base = makeTree(t, ['file p/a.yaml one']);
    const file = join(base, 'p/a.yaml');
    const seen: string[] = [];
    const result = await readSettled(join(base, 'p'), async () => {
      const text = readFileSync(file, 'utf8');
      seen.push(text);
      if (seen.length === 1) writeFileSync(file, 'two');
      return text;
    });
    assert.deepEqual([seen, result], [['one', 'two'], 'two']);
  });

  it('gives up waiting for what is rewritten all the time', async (t) => {
    const base = makeTree(t, ['file p/a.yaml x']);
    const file = join(base, 'p/a.yaml');
    const touching = setInterval(() => utimesSync(file, new Date(), new Date()), 50);
    t.after(() => clearInterval(touching));
    assert.equal(await readSettled(join(base, 'p'), async () => 'read'), 'read');
  });

  it('waits no longer than for what is new where the clock was set back behind the files', async (t) => {
    const base = makeTree(t, ['file p/a.yaml one']);
    const clock = new FakeClock();
    clock.aheadMs = -3_600_000;
    const seen: string[] = [];
    const read = async (): Promise<void> => void seen.push(readFileSync(join(base, 'p/a.yaml'), 'utf8'));
    const settled = readSettled(join(base, 'p'), read, clock);
    await clock.advance(STABLE_MS - 1);
    writeFileSync(join(base, 'p/a.yaml'), 'two');
    await clock.advance(1);
    await clock.advance(STABLE_MS - 1);
    assert.deepEqual(seen, []);
    await clock.advance(1);
    await settled;
    assert.deepEqual(seen, ['two']);
  });

  it('does not wait for a directory that is not there', async (t) => {
    const base = makeTree(t, []);
    assert.equal(await readSettled(join(base, 'p'), async () => 'absent'), 'absent');
  });
});
