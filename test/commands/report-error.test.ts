import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { exitStatusFor, reportError } from '../../src/commands/report-error.ts';
import { makeTree } from '../support/tree.ts';

/** What is thrown by that. */
function thrownBy(act: () => void): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return assert.fail('it was not refused');
}

function told(thrown: unknown): Promise<string> {
  const stderr = new PassThrough();
  reportError(thrown, { stderr });
  stderr.end();
  return text(stderr);
}

describe('what the system refuses', () => {
  it('is no bug: 78, with the call, the path and the reason', async (t) => {
    const base = makeTree(t, ['file f x', 'dir d']);
    const refused = thrownBy(() => renameSync(`${base}/f`, `${base}/d`));
    assert.equal(exitStatusFor(refused), 78);
    assert.ok(
      (await told(refused)).startsWith(
        `rootsd: Cannot go on: the system refuses "rename" of "${base}/f" (EISDIR) [SYSTEM_REFUSED]\n`,
      ),
    );
  });

  it('is no bug: 75 where there is no room', async () => {
    const full = thrownBy(() => writeFileSync('/dev/full', 'x'));
    assert.equal(exitStatusFor(full), 75);
    assert.match(await told(full), /\(ENOSPC\) \[SYSTEM_BUSY\]\n/);
  });
});

describe('anything else that is thrown', () => {
  it('is a bug: 70, with its stack', async () => {
    const bug = new TypeError('x is not a function');
    assert.equal(exitStatusFor(bug), 70);
    assert.match(
      await told(bug),
      /^rootsd: this is a bug in rootsd, please report it\nTypeError: x is not a function\n +at /,
    );
  });
});
