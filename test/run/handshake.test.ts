import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { unrefTimer } from '../../src/client/timer.ts';
import { ByteSink } from '../../src/run/bytes.ts';
import { Handshake } from '../../src/run/handshake.ts';
import { LineWriter } from '../../src/run/line-writer.ts';
import { OwnIds, OwnRequests } from '../../src/run/own-requests.ts';

const line = (message: object): Buffer => Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/** What a new process is told of what the host listens to under "a" and "b"; `a` says whether it may hear of "a". */
async function replayed(a: Promise<boolean>, signal = new AbortController().signal): Promise<string> {
  const handshake = new Handshake();
  for (const id of ['a', 'b']) handshake.noteListening(`"${id}"`, line({ id, method: 'subscriptions/listen' }));
  const stream = new PassThrough();
  await handshake.replay(new LineWriter(new ByteSink(stream)), new OwnRequests(new OwnIds(), unrefTimer), {
    offersRoots: true,
    mayPass: async (said) => !said.includes('"a"') || (await a),
    signal,
  });
  return String(stream.read() ?? '');
}

describe('Handshake, what it says again', () => {
  const [A, B] = [line({ id: 'a', method: 'subscriptions/listen' }), line({ id: 'b', method: 'subscriptions/listen' })];

  it('waits until it is known whether it may be said, and is not said where it may not', async () => {
    for (const [may, expected] of [
      [true, `${A}${B}`],
      [false, `${B}`],
    ] as const) {
      const known = { resolve: (_: boolean): void => assert.fail() };
      const answer = new Promise<boolean>((resolve) => {
        known.resolve = resolve;
      });
      const said = replayed(answer);
      known.resolve(may);
      assert.equal(await said, expected);
    }
  });

  it('is not said to a process that was replaced meanwhile', async () => {
    const replaced = new AbortController();
    const answer = Promise.resolve().then(() => {
      replaced.abort();
      return true;
    });
    assert.equal(await replayed(answer, replaced.signal), '');
  });
});
