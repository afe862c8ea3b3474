import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RefusedRequest } from '../../src/client/connection.ts';
import { exitStatusFor } from '../../src/commands/report-error.ts';
import { type Code, codes, RootsError } from '../../src/core/errors.ts';
import { exitStatusOf } from '../../src/core/exit-status.ts';
import { refusalOf } from '../../src/run/refusal.ts';

describe('exitStatusOf()', () => {
  /** A row a kind; then what differs from its kind. */
  const ROWS: readonly (readonly [Code, number])[] = [
    ['USAGE', 64],
    ['CONFIG_INVALID', 78],
    ['TOMBSTONE_FAILED', 78],
    ['PEER_OTHER_USER', 77],
    ['DAEMON_RUNNING', 75],
    ['BUG', 70],
    ['DAEMON_UNREACHABLE', 69],
    ['POLICY_BROKEN', 1],
    ['PEER_AMBIGUOUS', 64],
  ];
  for (const [code, status] of ROWS) {
    it(`${code} is ${status}`, () => assert.equal(exitStatusOf(code), status));
  }

  it('is the status of a command and of `run` alike, whoever found the error', () => {
    for (const code of Object.keys(codes()) as Code[]) {
      const error = new RootsError(code);
      const refused = new RefusedRequest({ code: -32603, message: 'x', data: { code } });
      const statuses = [exitStatusFor(error), refusalOf(error).status, refusalOf(refused).status];
      assert.deepEqual(statuses, Array(3).fill(exitStatusOf(code)), code);
    }
    assert.deepEqual([exitStatusFor(new TypeError()), refusalOf(new TypeError()).status], [70, 70]);
  });
});
