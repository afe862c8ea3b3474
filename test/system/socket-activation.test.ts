import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inheritedSockets } from '../../src/system/socket-activation.ts';

describe('inheritedSockets()', () => {
  const pid = 7;
  const rows: readonly [says: string, env: Record<string, string>, found: readonly (readonly [number, string])[]][] = [
    ['finds none without the variables', {}, []],
    ['finds none that are meant for another process', { LISTEN_PID: '8', LISTEN_FDS: '1' }, []],
    ['finds none where the count is no number', { LISTEN_PID: '7', LISTEN_FDS: 'x' }, []],
    ['finds none where the count is zero', { LISTEN_PID: '7', LISTEN_FDS: '0' }, []],
    ['takes an unnamed one for the peers', { LISTEN_PID: '7', LISTEN_FDS: '1' }, [[3, 'peers']]],
    [
      "takes one with the unit's name for the peers",
      { LISTEN_PID: '7', LISTEN_FDS: '1', LISTEN_FDNAMES: 'rootsd.socket' },
      [[3, 'peers']],
    ],
    [
      'takes the names in order',
      { LISTEN_PID: '7', LISTEN_FDS: '3', LISTEN_FDNAMES: 'control:unknown:git' },
      [
        [3, 'control'],
        [4, 'peers'],
        [5, 'git'],
      ],
    ],
  ];
  for (const [says, env, found] of rows) {
    it(says, () => {
      assert.deepEqual(
        inheritedSockets(env, pid),
        found.map(([fd, name]) => ({ fd, name })),
      );
    });
  }
});
