import assert from 'node:assert/strict';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { openNative } from '../../src/disk/native.ts';
import { DescriptorRoom } from '../../src/socket/descriptor-room.ts';
import { listen } from '../../src/socket/listen.ts';
import { temporaryDirectory } from '../support/tree.ts';

const native = await openNative();
assert.ok(native);
const { duplicate } = native;

test('a listener that is paused accepts nothing and loses nothing', async (t) => {
  const path = join(temporaryDirectory(t), 'a.sock');
  const accepted: Socket[] = [];
  let wake = () => {};
  const onConnection = (socket: Socket) => {
    accepted.push(socket);
    socket.end(`${accepted.length}`);
    wake();
  };
  const listener = await listen({ path }, { onConnection, onError: assert.ifError, duplicate });
  t.after(() => listener.close());
  for (let round = 1; round <= 3; round += 1) {
    const before = accepted.length;
    assert.ok(listener.pause());
    const waiting = Array.from({ length: 20 }, () => createConnection(path));
    await Promise.all(waiting.map((socket) => once(socket, 'connect')));
    for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
    assert.equal(accepted.length, before);
    assert.ok(listener.isThere());
    listener.resume();
    while (accepted.length < before + 20) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    for (const socket of waiting) socket.destroy();
  }
});

test('a listener that is closed while it is paused refuses connections', async (t) => {
  const path = join(temporaryDirectory(t), 'a.sock');
  const listener = await listen({ path }, { onConnection: () => {}, onError: assert.ifError, duplicate });
  listener.pause();
  listener.close();
  assert.equal(listener.isThere(), false);
  const [error] = await once(createConnection(path), 'error');
  assert.equal(error.code, 'ENOENT');
});

test('a listener that cannot go on after a pause says that nobody can connect, whatever its file looks like', async (t) => {
  const path = join(temporaryDirectory(t), 'a.sock');
  let failed = () => {};
  const failure = new Promise<void>((resolve) => {
    failed = resolve;
  });
  const onError = () => failed();
  // What is kept is no socket.
  const listener = await listen(
    { path },
    { onConnection: () => {}, onError, duplicate: () => openSync('/dev/null', 'r') },
  );
  t.after(() => listener.close());
  assert.ok(listener.pause());
  assert.ok(listener.isThere());
  listener.resume();
  await failure;
  assert.equal(listener.isThere(), false);
});

test('a listener cannot be paused without a second descriptor', async (t) => {
  const path = join(temporaryDirectory(t), 'a.sock');
  const listener = await listen({ path }, { onConnection: () => {}, onError: assert.ifError });
  t.after(() => listener.close());
  assert.equal(listener.pause(), false);
});

test('DescriptorRoom leaves the last descriptors to administration, and calls back when there is room', () => {
  const room = new DescriptorRoom(400);
  assert.deepEqual([room.isLast(335, 'peers'), room.isLast(336, 'peers')], [false, true]);
  assert.deepEqual([room.isLast(367, 'control'), room.isLast(368, 'control')], [false, true]);
  let calls = 0;
  const resume = () => {
    calls += 1;
  };
  new DescriptorRoom(4).wait(resume, 'peers');
  room.wait(resume, 'peers');
  room.freed();
  room.freed();
  assert.equal(calls, 1);
  room.wait(resume, 'peers');
  room.cancel(resume);
  room.freed();
  assert.equal(calls, 1);
});
