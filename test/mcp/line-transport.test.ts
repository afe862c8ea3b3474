import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { LineTransport } from '../../src/mcp/line-transport.ts';

/** A transport, and what the SDK has been given of it: ids of requests, and `-ID` where one was cancelled. */
function line() {
  let held = 0;
  const given: unknown[] = [];
  const sent: string[] = [];
  const refused: unknown[] = [];
  const transport = new LineTransport({
    send: (json) => sent.push(json),
    hold: () => {
      held += 1;
    },
    release: () => {
      held -= 1;
    },
    onRefused: (id) => refused.push(id),
    onClose: () => {},
  });
  transport.onmessage = (message: JSONRPCMessage) => {
    if ('id' in message) given.push(message.id);
    else if ('params' in message) given.push(`-${message.params?.requestId}`);
  };
  const send = (id: number, method: string, params = {}) => transport.receive({ jsonrpc: '2.0', id, method, params });
  return {
    transport,
    given,
    sent,
    refused,
    held: () => held,
    request: (id: number, params = {}) => send(id, 'resources/read', params),
    listen: (id: number) => send(id, 'subscriptions/listen'),
    answer: (id: number) => transport.send({ jsonrpc: '2.0', id, result: {} }),
    cancel: (requestId: number) =>
      transport.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
  };
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

test('LineTransport gives the SDK 32 requests before one is answered, then the next ones in order', async () => {
  const { given, request, answer, transport, sent } = line();
  for (const id of upTo(40)) request(id);
  assert.deepEqual(given, upTo(32));
  assert.deepEqual([transport.isOpen(32), transport.isOpen(33), transport.isOpen(41)], [true, true, false]);
  await answer(7);
  await answer(8);
  assert.deepEqual(given, upTo(34));
  assert.deepEqual([transport.isOpen(7), transport.isOpen(33)], [false, true]);
  // What was not open makes no room.
  await answer(7);
  assert.deepEqual(given, upTo(34));
  assert.equal(sent.length, 3);
});

test('LineTransport lets 32 more wait, and reads on once there is room', async () => {
  const { held, request, answer } = line();
  for (const id of upTo(63)) request(id);
  assert.equal(held(), 0);
  request(64);
  assert.equal(held(), 1);
  await answer(1);
  assert.equal(held(), 0);
});

test('LineTransport lets no more wait than 256 KiB', async () => {
  const { held, request, answer } = line();
  for (const id of upTo(32)) request(id);
  request(33, { uri: 'x'.repeat(200 * 1024) });
  assert.equal(held(), 0);
  request(34, { uri: 'x'.repeat(60 * 1024) });
  assert.equal(held(), 1);
  await answer(1);
  assert.equal(held(), 0);
  for (const id of upTo(36, 35)) request(id, { uri: 'x'.repeat(100 * 1024) });
  assert.equal(held(), 1);
});

test('LineTransport reads what is cancelled while requests wait', async () => {
  const { given, request, cancel, answer, transport, held } = line();
  for (const id of upTo(64)) request(id);
  cancel(33);
  assert.deepEqual([held(), transport.isOpen(33)], [0, false]);
  // The first of those that wait comes in the place of one that is given up.
  cancel(5);
  assert.deepEqual(given, [...upTo(32), '-33', 34, '-5']);
  await answer(1);
  assert.equal(given.at(-1), 35);
});

test('LineTransport counts work on what was cancelled for as long as it goes on', () => {
  const { transport, given, request, cancel } = line();
  const ends: ((isAnswered: boolean) => void)[] = [];
  for (const id of upTo(32)) {
    request(id);
    ends.push(transport.begin(id));
    cancel(id);
  }
  request(33);
  assert.equal(given.includes(33), false);
  assert.equal(transport.isOpen(1), true);
  ends[0]?.(false);
  assert.equal(given.includes(33), true);
  assert.equal(transport.isOpen(1), false);
});

test('LineTransport forgets at once what is cancelled before work on it began', () => {
  const { transport, given, request, cancel } = line();
  for (const id of upTo(100)) {
    request(id);
    cancel(id);
  }
  assert.equal(transport.isOpen(100), false);
  assert.equal(given.length, 200);
});

test('LineTransport does not count what lasts until the client has enough of it', () => {
  const { given, request, listen, transport } = line();
  for (const id of upTo(100)) listen(id);
  for (const id of upTo(132, 101)) request(id);
  assert.equal(given.length, 132);
  assert.equal(transport.isOpen(1), false);
});

test('LineTransport says which requests were answered with an error', async () => {
  const { transport, refused, request, answer } = line();
  for (const id of [1, 2]) request(id);
  await transport.send({ jsonrpc: '2.0', id: 2, error: { code: -32602, message: 'x' } });
  await answer(1);
  assert.deepEqual(refused, [2]);
});

test('LineTransport sends nothing and begins nothing once the client is gone', async () => {
  const { transport, given, sent, request, answer } = line();
  let closes = 0;
  transport.onclose = () => {
    closes += 1;
  };
  for (const id of upTo(33)) request(id);
  transport.closed();
  transport.closed();
  await answer(1);
  await transport.close();
  assert.deepEqual([given, sent, closes], [upTo(32), [], 1]);
});
