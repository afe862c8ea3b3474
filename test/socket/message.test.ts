import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Code, codes, RootsError } from '../../src/core/errors.ts';
import {
  errorReply,
  methodNotFound,
  notification,
  notificationStart,
  readMessage,
  resultReply,
  toRpcError,
} from '../../src/socket/message.ts';

test('readMessage() tells requests, notifications and responses apart', () => {
  const rows: readonly (readonly [value: object, expected: object])[] = [
    [
      { jsonrpc: '2.0', id: 0, method: 'm' },
      { kind: 'request', id: 0, method: 'm', params: {} },
    ],
    [
      { jsonrpc: '2.0', id: '', method: 'm', params: { a: 1 } },
      { kind: 'request', id: '', method: 'm', params: { a: 1 } },
    ],
    [
      { jsonrpc: '2.0', method: 'm' },
      { kind: 'notification', method: 'm', params: {} },
    ],
    [
      { jsonrpc: '2.0', method: 'm', params: [1] },
      { kind: 'notification', method: 'm', params: {} },
    ],
    [{ jsonrpc: '2.0', id: 1, result: null }, { kind: 'response' }],
    [{ jsonrpc: '2.0', id: 1, error: {} }, { kind: 'response' }],
  ];
  for (const [value, expected] of rows) assert.deepEqual(readMessage(value), expected, JSON.stringify(value));
});

test('readMessage() takes `__proto__` for a member like any other', () => {
  const message = readMessage(JSON.parse('{"jsonrpc":"2.0","id":1,"__proto__":{"method":"m"}}'));
  assert.equal(message.kind, 'invalid');
});

test('replies and notifications are one line of JSON', () => {
  assert.equal(resultReply('a\n"', '{"x":1}'), '{"jsonrpc":"2.0","id":"a\\n\\"","result":{"x":1}}');
  assert.equal(notification('m'), '{"jsonrpc":"2.0","method":"m"}');
  assert.equal(`${notificationStart('m')}{}}`, '{"jsonrpc":"2.0","method":"m","params":{}}');
  const { error } = methodNotFound('No', 'why');
  assert.equal(
    errorReply(null, error),
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"No","data":{"reason":"why"}}}',
  );
});

test('toRpcError() gives code, text and hint of our errors, and nothing else', () => {
  const cause = new Error('secret');
  for (const code of Object.keys(codes()) as Code[]) {
    const error = toRpcError(new RootsError(code, {}, { cause }));
    assert.ok([-32700, -32600, -32602, -32603].includes(error.code), code);
    assert.doesNotMatch(JSON.stringify(error), /secret|stack/);
    if (codes()[code].kind === 'bug') assert.deepEqual(error, { code: -32603, message: 'Internal error' });
    else assert.equal((error.data as { code: string }).code, code);
  }
});

test('toRpcError() tells nothing of a bug', () => {
  for (const bug of [new TypeError('secret'), 'secret', undefined, null]) {
    assert.deepEqual(toRpcError(bug), { code: -32603, message: 'Internal error' });
  }
});
