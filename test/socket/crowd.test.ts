// Many peers at once, and peers that mean harm: whoever is honest is answered throughout.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import type { RootsError } from '../../src/core/errors.ts';
import { nextDescriptor } from '../../src/disk/descriptors.ts';
import { Capacity } from '../../src/socket/capacity.ts';
import { DescriptorRoom } from '../../src/socket/descriptor-room.ts';
import { LIMITS, openTestPeers, viewOf } from './open-test-peers.ts';
import { connectPeer, type RawPeer } from './raw-peer.ts';

const MiB = 1024 * 1024;

async function attach(peer: RawPeer): Promise<void> {
  assert.equal((await peer.request('rootsd/attach', { version: 1, server: 'git' })).error, undefined);
}

/** Resolves when the daemon has all of it. */
async function writeAll(peer: RawPeer, text: Buffer | string): Promise<void> {
  await new Promise<void>((resolve) => peer.socket.write(text, () => resolve()));
}

test('unfinished messages of many peers are bounded together: who holds the most is told why and ended', async (t) => {
  const limits = { ...LIMITS, message: MiB };
  const { path, logged } = await openTestPeers(t, { limits });
  const honest = await connectPeer(t, path);
  await attach(honest);
  const piece = Buffer.alloc(MiB - 1024, 'x');
  const crowd: RawPeer[] = [];
  for (let i = 0; i < 64; i += 1) {
    const peer = await connectPeer(t, path);
    crowd.push(peer);
    await Promise.race([writeAll(peer, piece), peer.closed]);
    assert.deepEqual((await honest.request('roots/list')).result, { roots: viewOf('a1', 'one').roots });
  }
  const errors = crowd.flatMap(({ unread }) => unread.map(({ error }) => error?.data?.code));
  assert.ok(errors.length >= 64 - 16, 'no more than sixteen messages are held');
  assert.ok(
    errors.every((code) => code === 'PEER_HOLDS_MOST'),
    String(errors),
  );
  assert.equal(logged.at(-1)?.event, 'peer fault');
  for (const peer of crowd) peer.socket.destroy();
});

test('what a peer claims is held for it as long as it is attached', async (t) => {
  const limits = { ...LIMITS, message: 64 * 1024 };
  const { path, authority } = await openTestPeers(t, { limits });
  const [honest, last] = [await connectPeer(t, path), await connectPeer(t, path)];
  await attach(honest);
  const launch = { argv: ['x'.repeat(60 * 1024)], cwd: '/' };
  for (let i = 0; i < 32; i += 1) {
    const peer = await connectPeer(t, path);
    peer.send({ jsonrpc: '2.0', id: 1, method: 'rootsd/attach', params: { version: 1, server: 'git', launch } });
    await peer.next();
  }
  while (authority.sessions.length > 18) await new Promise(setImmediate);
  await attach(last);
  assert.equal((await honest.request('roots/list')).error, undefined);
});

test('the limit of sessions holds over all listeners of a daemon, and one that ends makes room at any of them', async (t) => {
  const limits = { ...LIMITS, sessions: 2 };
  const capacity = new Capacity(limits);
  const common = await openTestPeers(t, { limits, capacity });
  const named = await openTestPeers(t, { limits, capacity, listener: 'git' });
  const [first, second] = [await connectPeer(t, common.path), await connectPeer(t, named.path)];
  await attach(first);
  await attach(second);
  for (const { path } of [common, named]) {
    const third = await connectPeer(t, path);
    const { error } = await third.request('rootsd/attach', { version: 1, server: 'git' });
    assert.equal(error?.data?.code, 'PEER_SESSIONS_FULL');
    assert.match(error?.message ?? '', /2 are open/);
    await third.ended;
  }
  const closed = new Promise<void>((done) => {
    common.authority.onClosed = done;
  });
  first.socket.end();
  await closed;
  await attach(await connectPeer(t, named.path));
});

test('a peer that floods has its turn, and then the others have theirs', async (t) => {
  const { path, authority } = await openTestPeers(t);
  const [flood, honest] = [await connectPeer(t, path), await connectPeer(t, path)];
  for (const peer of [flood, honest]) await attach(peer);
  const served = new Promise<number>((resolve) => {
    authority.hostRoots = () => resolve(authority.acknowledgements.length);
  });
  const ack = '{"jsonrpc":"2.0","method":"rootsd/ack","params":{"generation":"a1"}}\n';
  flood.write(ack.repeat(900));
  honest.notify('rootsd/hostRoots', { roots: [] });
  assert.ok((await served) <= 128, 'a turn or two, not all that had come');
  while (authority.acknowledgements.length < 900) await new Promise(setImmediate);
});

test('many peers that flood and do not read are cut, an honest one is answered, and their answers are held no more', async (t) => {
  const limits = { ...LIMITS, message: 64 * 1024, queue: 256 * 1024, stallMs: 50 };
  const { path, authority } = await openTestPeers(t, { limits });
  authority.view = viewOf('a1', ...Array.from({ length: 20 }, (_, i) => `root-${i}`));
  const honest = await connectPeer(t, path);
  await attach(honest);
  const requests = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n'.repeat(2000));
  const floods = await Promise.all(Array.from({ length: 20 }, () => connectPeer(t, path)));
  for (const flood of floods) {
    await attach(flood);
    flood.socket.pause();
    flood.socket.on('drain', () => flood.write(requests));
    flood.write(requests);
  }
  let most = 0;
  while (authority.sessions.length > 1) {
    assert.equal((await honest.request('roots/list')).error, undefined);
    most = Math.max(
      most,
      authority.sessions.reduce((sum, { state }) => sum + state.waitingBytes, 0),
    );
    await new Promise(setImmediate);
  }
  assert.ok(most <= 16 * 64 * 1024, `${most} bytes waited`);
  assert.equal((await honest.request('roots/list')).error, undefined);
});

test('a peer that never takes what it is sent is ended in time, be it that nothing waits behind', async (t) => {
  const { path, authority, publish, logged } = await openTestPeers(t, { limits: { ...LIMITS, takeMs: 50 } });
  const [frozen, honest] = [await connectPeer(t, path), await connectPeer(t, path)];
  for (const peer of [frozen, honest]) await attach(peer);
  await frozen.request('rootsd/watch');
  const closed = new Promise<void>((done) => {
    authority.onClosed = done;
  });
  frozen.socket.pause();
  publish(viewOf('b1', ...Array.from({ length: 20_000 }, (_, i) => `root-${i}`)));
  assert.equal((await honest.next()).method, 'notifications/roots/list_changed');
  await closed;
  assert.equal((logged.at(-1)?.fields.error as RootsError | undefined)?.code, 'PEER_STALLED');
  assert.equal((await honest.request('rootsd/nothing')).error?.code, -32601);
});

test('a long view is one piece of memory for all that have it on its way', async (t) => {
  const { path, publish } = await openTestPeers(t);
  const frozen = await Promise.all(Array.from({ length: 20 }, () => connectPeer(t, path)));
  for (const peer of frozen) {
    await attach(peer);
    await peer.request('rootsd/watch');
    peer.socket.pause();
  }
  const before = process.memoryUsage().arrayBuffers;
  const view = viewOf('b1', ...Array.from({ length: 3_000 }, (_, i) => `root-${i}`));
  publish(view);
  const length = JSON.stringify(view).length;
  const grown = process.memoryUsage().arrayBuffers - before;
  assert.ok(grown < 5 * length, `${grown} bytes for views of ${length}`);
  for (const peer of frozen) {
    peer.socket.resume();
    assert.deepEqual((await peer.next()).params, view);
  }
});

test('connections that are half open or say half a message keep nobody out', async (t) => {
  const { path, authority } = await openTestPeers(t, { limits: { ...LIMITS, sessions: 8 } });
  const half = await Promise.all(Array.from({ length: 40 }, () => connectPeer(t, path)));
  for (const [i, peer] of half.entries()) if (i % 2 === 0) peer.write('{"jsonrpc":"2.0","id":1,"meth');
  const honest = await connectPeer(t, path);
  await attach(honest);
  // Who shuts its side without a word has its connection ended.
  const silent = await connectPeer(t, path);
  silent.socket.end();
  await silent.closed;
  for (const peer of half) peer.socket.destroy();
  await Promise.all(half.map(({ socket }) => (socket.closed ? undefined : once(socket, 'close'))));
  assert.equal((await honest.request('roots/list')).error, undefined);
  assert.equal(authority.sessions.length, 1);
});

test('four thousand peers that watch are all told, and leave nothing behind', async (t) => {
  const { path, authority, publish } = await openTestPeers(t);
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = process.platform === 'linux' ? descriptors() : 0;
  const peers: RawPeer[] = [];
  for (let i = 0; i < 4000; i += 1) {
    const peer = await connectPeer(t, path);
    peers.push(peer);
    await attach(peer);
    await peer.request('rootsd/watch');
  }
  for (const [generation, name] of [
    ['b1', 'two'],
    ['b2', 'three'],
  ] as const) {
    const view = viewOf(generation, name);
    publish(view);
    for (const peer of peers) assert.deepEqual((await peer.next()).params, view);
  }
  for (const peer of peers) peer.socket.destroy();
  await Promise.all(peers.map(({ closed }) => closed));
  while (authority.closedSessions.length < peers.length) await new Promise(setImmediate);
  if (process.platform === 'linux') assert.ok(descriptors() <= before + 5);
});

test('without the native layer the oldest silent connection goes where descriptors run out', async (t) => {
  // Three quarters of them are for peers; each peer of this process takes two.
  const descriptors = new DescriptorRoom(Math.ceil(((nextDescriptor() + 20) * 4) / 3));
  const capacity = new Capacity(LIMITS, descriptors);
  const { path, logged } = await openTestPeers(t, { capacity, native: null });
  const honest = await connectPeer(t, path);
  await attach(honest);
  const silent: RawPeer[] = [];
  for (let i = 0; i < 20; i += 1) silent.push(await connectPeer(t, path));
  await silent[0]?.closed;
  const last = silent.at(-1);
  assert.ok(last);
  await attach(last);
  assert.equal((await honest.request('roots/list')).error, undefined);
  assert.equal(logged.filter(({ event }) => event === 'descriptors run out, new connections wait').length, 1);
});
