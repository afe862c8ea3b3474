import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { EndpointSession } from '../../src/mcp/endpoint-session.ts';
import { Subscriptions } from '../../src/mcp/subscriptions.ts';
import { FakeClock } from '../support/clock.ts';
import { endpointSession } from '../support/endpoint-session.ts';
import { makeTree } from '../support/tree.ts';

/** Subscriptions to what lies in a root; `fails`: the session's answer to a look. */
function subscribed(t: TestContext) {
  const base = makeTree(t, ['file a one', 'file b one']);
  const held: { fails: boolean; wait: Promise<void> | null } = { fails: false, wait: null };
  const real = endpointSession(t, `roots: { r: { path: ${base} } }\nrules: [{ id: a, allow: [r] }]\n`);
  const session: EndpointSession = {
    ...real,
    fetch: async (request) => {
      await held.wait;
      if (held.fails) throw new Error('out of order');
      return real.fetch(request);
    },
  };
  const [clock, updates, bugs] = [new FakeClock(), [] as string[], [] as unknown[]];
  const onUpdate = (uri: string) => updates.push(uri.slice(`file://${base}/`.length));
  const subscriptions = new Subscriptions({ session, clock, onUpdate, onBug: (error) => bugs.push(error) });
  t.after(() => subscriptions.close());
  const uri = (name: string) => `file://${base}/${name}`;
  const change = (name: string, text: string) => writeFileSync(join(base, name), text);
  return { base, held, real, clock, updates, bugs, subscriptions, uri, change };
}

test('Subscriptions tell of each change once, and of what is there and of what is gone', async (t) => {
  const { base, subscriptions, uri, change, updates } = subscribed(t);
  for (const name of ['a', 'b', 'c']) assert.equal(await subscriptions.add(uri(name)), true);
  await subscriptions.lookAgain();
  assert.deepEqual(updates, []);
  change('a', 'another');
  change('c', 'new');
  rmSync(join(base, 'b'));
  await subscriptions.lookAgain();
  await subscriptions.lookAgain();
  assert.deepEqual(updates, ['a', 'b', 'c']);
});

test('Subscriptions look every two seconds, for as long as there are any', async (t) => {
  const { subscriptions, uri, change, updates, clock, real } = subscribed(t);
  await subscriptions.add(uri('a'));
  change('a', 'another');
  await clock.advance(1_999);
  assert.equal(real.fetched.length, 1);
  await clock.advance(1);
  await subscriptions.lookAgain();
  while (updates.length === 0) await new Promise((resolve) => setImmediate(resolve));
  subscriptions.remove(uri('a'));
  await clock.advance(2_000);
  await new Promise((resolve) => setImmediate(resolve));
  const looks = real.fetched.length;
  await clock.advance(10_000);
  assert.deepEqual([real.fetched.length, updates], [looks, ['a']]);
});

test('Subscriptions go on after a look that has failed', async (t) => {
  const { subscriptions, uri, change, updates, held, bugs } = subscribed(t);
  held.fails = true;
  assert.equal(await subscriptions.add(uri('b')), true);
  held.fails = false;
  await subscriptions.add(uri('a'));
  held.fails = true;
  await subscriptions.lookAgain();
  assert.equal(bugs.length, 3);
  held.fails = false;
  change('a', 'another');
  await subscriptions.lookAgain();
  assert.deepEqual(updates, ['a']);
});

test('Subscriptions tell nothing of what is given up while it is looked at', async (t) => {
  for (const giveUp of ['remove', 'close'] as const) {
    const { subscriptions, uri, change, updates, held } = subscribed(t);
    await subscriptions.add(uri('a'));
    change('a', 'another');
    let go = () => {};
    held.wait = new Promise((resolve) => {
      go = resolve;
    });
    const looking = subscriptions.lookAgain();
    if (giveUp === 'close') subscriptions.close();
    else subscriptions.remove(uri('a'));
    go();
    await looking;
    assert.deepEqual(updates, [], giveUp);
  }
});

test('Subscriptions are a hundred at most, each counted once', async (t) => {
  const { subscriptions, uri } = subscribed(t);
  for (let i = 0; i < 100; i++) assert.equal(await subscriptions.add(uri(`${i}`)), true);
  assert.equal(await subscriptions.add(uri('100')), false);
  assert.equal(await subscriptions.add(uri('99')), true);
  subscriptions.remove(uri('0'));
  assert.equal(await subscriptions.add(uri('100')), true);
});
