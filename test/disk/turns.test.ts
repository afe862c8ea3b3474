import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from '../../src/disk/turns.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Works that end when a test says so; what has begun, in order. */
function works(turns: Turns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const take = (client: AbortSignal, name: string) =>
    turns.take(client, () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await settled();
  };
  return { begun, take, end };
}

test('Turns lets so many work at once, one of each client, and the clients in turn', async () => {
  const { begun, take, end } = works(new Turns(2));
  const [a, b, c] = [new AbortController().signal, new AbortController().signal, new AbortController().signal];
  const taken = ['a1', 'a2', 'a3'].map((name) => take(a, name));
  assert.deepEqual(begun, ['a1']);
  taken.push(...['b1', 'b2'].map((name) => take(b, name)), take(c, 'c1'));
  assert.deepEqual(begun, ['a1', 'b1']);
  await end('a1');
  assert.deepEqual(begun, ['a1', 'b1', 'c1']);
  await end('b1');
  await end('c1');
  assert.deepEqual(begun, ['a1', 'b1', 'c1', 'a2', 'b2']);
  await end('a2');
  await end('b2');
  await end('a3');
  assert.deepEqual(await Promise.all(taken), ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
});

test('Turns drops what waits of a client that is gone, and goes on with the next', async () => {
  const { begun, take, end } = works(new Turns(1));
  const gone = new AbortController();
  const first = take(gone.signal, 'first');
  const dropped = [take(gone.signal, 'second'), take(gone.signal, 'third')];
  const other = take(new AbortController().signal, 'other');
  gone.abort();
  await end('first');
  assert.deepEqual(await Promise.all(dropped), [null, null]);
  await end('other');
  assert.deepEqual([await first, await other], ['first', 'other']);
  assert.deepEqual(begun, ['first', 'other']);
});

test('Turns drops all that waits when it is closed, and begins nothing more', async () => {
  const turns = new Turns(1);
  const { begun, take, end } = works(turns);
  const client = new AbortController().signal;
  const first = take(client, 'first');
  const second = take(client, 'second');
  turns.close();
  assert.equal(await second, null);
  assert.equal(await take(client, 'third'), null);
  await end('first');
  assert.equal(await first, 'first');
  assert.deepEqual(begun, ['first']);
});

test('Turns goes on where a work fails', async () => {
  const turns = new Turns(1);
  const client = new AbortController().signal;
  await assert.rejects(
    turns.take(client, () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(await turns.take(client, async () => 'yes'), 'yes');
});
