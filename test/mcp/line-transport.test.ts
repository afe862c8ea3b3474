import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineTransport } from '../../src/mcp/line-transport.ts';

interface Line {
  readonly transport: LineTransport;
  readonly isHeld: () => boolean;
  readonly request: (id: number) => void;
  readonly cancel: (id: number) => void;
}

function line(): Line {
  let held = 0;
  const transport = new LineTransport({
    send: () => {},
    hold: () => {
      held += 1;
    },
    release: () => {
      held -= 1;
    },
    onClose: () => {},
  });
  return {
    transport,
    isHeld: () => held > 0,
    request: (id) => transport.receive({ jsonrpc: '2.0', id, method: 'resources/read' }),
    cancel: (requestId) =>
      transport.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
  };
}

test('LineTransport takes no more than 32 requests before one is answered', async () => {
  const { transport, isHeld, request } = line();
  for (let id = 1; id < 32; id++) request(id);
  assert.equal(isHeld(), false);
  request(32);
  assert.equal(isHeld(), true);
  await transport.send({ jsonrpc: '2.0', id: 7, result: {} });
  assert.equal(isHeld(), false);
});

test('LineTransport counts work on what was cancelled for as long as it goes on', () => {
  const { transport, isHeld, request, cancel } = line();
  const ends: ((isAnswered: boolean) => void)[] = [];
  for (let id = 1; id <= 32; id++) {
    request(id);
    ends.push(transport.begin(id));
    cancel(id);
  }
  assert.equal(isHeld(), true);
  assert.equal(transport.isOpen(1), true);
  ends[0]?.(false);
  assert.equal(isHeld(), false);
  assert.equal(transport.isOpen(1), false);
});

test('LineTransport forgets at once what is cancelled before work on it began', () => {
  const { transport, isHeld, request, cancel } = line();
  for (let id = 1; id <= 100; id++) {
    request(id);
    cancel(id);
  }
  assert.equal(isHeld(), false);
  assert.equal(transport.isOpen(100), false);
});
