import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../src/socket/message.ts';
import { readAck, readAttachParams, readHostRootsParams } from '../../src/socket/peer-params.ts';

const good = { version: 1, server: 'git' };

test('readAttachParams() keeps what it knows and ignores the rest', () => {
  const launch = { argv: ['npx', ''], cwd: '/w' };
  const rows: readonly (readonly [params: Record<string, unknown>, expected: object])[] = [
    [good, good],
    [
      { version: 1, server: null },
      { version: 1, server: null },
    ],
    [
      { ...good, host: null, _meta: {}, x: 1 },
      { ...good, host: null },
    ],
    [
      { ...good, host: 'ü 🙂', launch: { ...launch, x: 1 }, project: '/p' },
      { ...good, host: 'ü 🙂', launch, project: '/p' },
    ],
    [
      { ...good, server: '🙂'.repeat(200) },
      { ...good, server: '🙂'.repeat(200) },
    ],
  ];
  for (const [params, expected] of rows) assert.deepEqual(readAttachParams(params), expected);
});

test('readAttachParams() refuses with the name of the member that is wrong', () => {
  const rows: readonly (readonly [params: Record<string, unknown>, says: RegExp])[] = [
    [{ server: 'x' }, /version/],
    [{ ...good, version: '1' }, /version/],
    [{ version: 1 }, /"server"/],
    [{ ...good, server: '' }, /"server"/],
    [{ ...good, server: 7 }, /"server"/],
    [{ ...good, server: 'x'.repeat(201) }, /"server"/],
    [{ ...good, server: 'a\nb' }, /"server"/],
    [{ ...good, server: 'a\u0085b' }, /"server"/],
    [{ ...good, server: 'a\u007fb' }, /"server"/],
    [{ ...good, server: 'a\ud800b' }, /"server"/],
    [{ ...good, host: 'a\0b' }, /"host"/],
    [{ ...good, host: [] }, /"host"/],
    [{ ...good, launch: null }, /"launch.argv"/],
    [{ ...good, launch: { argv: [], cwd: '/' } }, /"launch.argv"/],
    [{ ...good, launch: { argv: ['a', 1], cwd: '/' } }, /"launch.argv"/],
    [{ ...good, launch: { argv: ['a\0b'], cwd: '/' } }, /"launch.argv"/],
    [
      { ...good, launch: { argv: Array(4_097).fill(''), cwd: '/' } },
      /"launch.argv" must be a list of 1 to 4096 strings/,
    ],
    [{ ...good, launch: { argv: ['a', 'ü'.repeat(128 * 1_024)], cwd: '/' } }, /of at most 256 KiB together/],
    [{ ...good, launch: { argv: ['a'], cwd: 'w' } }, /"launch.cwd"/],
    [
      { ...good, launch: { argv: ['a'], cwd: `/${'a'.repeat(4_095)}` } },
      /"launch.cwd" must be .* less than 4096 bytes/,
    ],
    [{ ...good, launch: { argv: ['a'] } }, /"launch.cwd"/],
    [{ ...good, project: './p' }, /"project"/],
  ];
  for (const [params, says] of rows) {
    assert.throws(
      () => readAttachParams(params),
      (error) => error instanceof Refusal && error.error.code === -32602 && says.test(error.message),
      JSON.stringify(params),
    );
  }
});

test('readHostRootsParams() takes up to 64 roots of up to 4,096 bytes', () => {
  const longest = { uri: `file:///${'x'.repeat(4088)}` };
  assert.equal(readHostRootsParams({ roots: Array(64).fill(longest) }).length, 64);
  const rows = [
    {},
    { roots: {} },
    { roots: Array(65).fill(longest) },
    { roots: ['file:///'] },
    { roots: [null] },
    { roots: [{ uri: 7 }] },
    { roots: [{ uri: `${longest.uri}x` }] },
  ];
  for (const params of rows) assert.throws(() => readHostRootsParams(params), Refusal);
});

test('readAck() takes a digest, and the number of a view where there is one', () => {
  const generation = '0123456789abcdef';
  assert.deepEqual(readAck({ generation }), { generation });
  assert.deepEqual(readAck({ generation, serial: 7, more: 1 }), { generation, serial: 7 });
  for (const wrong of [undefined, '', 7, 'XYZ', 'a'.repeat(65)])
    assert.throws(() => readAck({ generation: wrong }), Refusal);
  for (const serial of [null, '1', 0, -1, 1.5, 2 ** 53]) assert.throws(() => readAck({ generation, serial }), Refusal);
});
