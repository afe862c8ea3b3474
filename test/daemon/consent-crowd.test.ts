// Many who ask at once, with a real daemon.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ASKS, list, listed, PATIENT, served } from '../support/asking-home.ts';

test('a hundred questions of a hundred servers are answered each for itself', async (t) => {
  const { home } = await served(t, ASKS, PATIENT);
  const peers = await Promise.all(Array.from({ length: 100 }, (_, i) => home.peer(`s${i}`)));
  for (const peer of peers) await listed(peer);
  const { pending } = await list(home);
  assert.equal(pending.length, 100);
  for (const { id, server } of pending) {
    await home.command('consent', Number(server?.slice(1)) % 2 === 0 ? 'approve' : 'deny', id);
  }
  for (const [i, peer] of peers.entries()) assert.deepEqual(await listed(peer), i % 2 === 0 ? ['A'] : [], `s${i}`);
});

test('a server that floods, renames itself and reconnects raises a bounded number of questions', async (t) => {
  const { home, daemon } = await served(t, ASKS, PATIENT);
  for (let i = 0; i < 300; i += 1) await listed(await home.peer(`name-${i}`));
  // A few more where this has taken long: one each 10 s.
  const { length } = (await list(home)).pending;
  assert.ok(length >= 256 && length < 290, `${length} questions`);
  assert.equal(daemon.count('consent question held back'), 300 - length);
  const again = await served(t, ASKS, PATIENT);
  for (let i = 0; i < 80; i += 1) {
    const peer = await again.home.peer('one');
    await listed(peer);
    peer.socket.destroy();
    await again.daemon.logged('peer detached', i + 1);
  }
  const asked = again.daemon.count('consent asked');
  assert.ok(asked >= 64 && asked < 75, `${asked} questions`);
});
