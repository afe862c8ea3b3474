import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Reloads } from '../../src/daemon/reloads.ts';

/** Reloads that go on when a test says so, and what has become of them. */
class Watched {
  readonly said: string[] = [];
  /** Ends the reading that is under way. */
  readonly readings: (() => void)[] = [];
  /** Puts in force what was read. */
  readonly takings: (() => void)[] = [];
  readonly reloads = new Reloads<number>({
    read: async (acceptEmpty) => {
      const number = this.readings.length;
      this.said.push(acceptEmpty ? `read ${number}, empty is meant` : `read ${number}`);
      await new Promise<void>((resolve) => this.readings.push(resolve));
      return number;
    },
    takeUp: (number) =>
      new Promise((resolve) => {
        this.takings[number] = resolve;
      }),
    begin: () => this.said.push('begin'),
    end: () => this.said.push('end'),
  });
}

/** Whatever is ready to go on has gone on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('Reloads', () => {
  it('reads once more for all who ask while one reads, be they hundreds', async () => {
    const { reloads, readings, takings, said } = new Watched();
    const first = reloads.ask(false);
    await settled();
    const asked = Array.from({ length: 500 }, () => reloads.ask(false));
    readings[0]?.();
    await settled();
    readings[1]?.();
    await settled();
    for (const take of takings) take();
    assert.equal(await first, 0);
    assert.deepEqual(new Set(await Promise.all(asked)), new Set([1]));
    assert.deepEqual(said, ['begin', 'read 0', 'begin', 'read 1', 'end']);
  });

  it('accepts that a layer is gone where one of those who wait together does, and only then', async () => {
    const { reloads, readings, said } = new Watched();
    void reloads.ask(false);
    await settled();
    for (const acceptEmpty of [false, true, false]) void reloads.ask(acceptEmpty);
    readings[0]?.();
    await settled();
    void reloads.ask(false);
    readings[1]?.();
    await settled();
    assert.deepEqual(said, ['begin', 'read 0', 'begin', 'read 1, empty is meant', 'begin', 'read 2']);
  });

  it('reads anew before what was read is in force, and has ended when the last one is', async () => {
    const { reloads, readings, takings, said } = new Watched();
    const asked = [reloads.ask(false)];
    await settled();
    asked.push(reloads.ask(false));
    readings[0]?.();
    await settled();
    assert.deepEqual(said.splice(0), ['begin', 'read 0', 'begin', 'read 1']);
    takings[0]?.();
    await asked[0];
    await settled();
    assert.deepEqual(said, []);
    readings[1]?.();
    await settled();
    takings[1]?.();
    await asked[1];
    assert.deepEqual(said, ['end']);
  });

  it('ends and goes on where one fails', async () => {
    const said: string[] = [];
    const reloads = new Reloads<void>({
      read: async () => {
        said.push('read');
        if (said.length < 3) throw new Error('broken');
      },
      takeUp: async () => {
        throw new Error('not taken up');
      },
      begin: () => said.push('begin'),
      end: () => said.push('end'),
    });
    await assert.rejects(reloads.ask(false), /broken/);
    await assert.rejects(reloads.ask(false), /not taken up/);
    assert.deepEqual(said, ['begin', 'read', 'end', 'begin', 'read', 'end']);
  });
});
