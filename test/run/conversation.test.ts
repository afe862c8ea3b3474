import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { unrefTimer } from '../../src/client/timer.ts';
import { ByteSink } from '../../src/run/bytes.ts';
import { Guard } from '../../src/run/guard/guard.ts';
import { LineWriter } from '../../src/run/line-writer.ts';
import { makeConversation } from '../support/conversation.ts';

/** A guard to which the disk has not answered yet. */
class WaitingGuard extends Guard {
  mayPass: boolean | 'wait' = 'wait';

  constructor() {
    super({ timer: unrefTimer, cwd: () => '/', onAnswer: () => undefined, onRefused: () => undefined });
  }

  override mayPassAgain(): boolean | 'wait' {
    return this.mayPass;
  }
}

describe('Conversation, what is said again to a new process', () => {
  const LISTEN = '{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen"}\n';
  for (const [mayPass, expected] of [
    [true, LISTEN],
    [false, ''],
  ] as const) {
    it(`waits for the guard, which then says ${mayPass ? 'yes' : 'no'}`, async () => {
      const guard = new WaitingGuard();
      const conversation = makeConversation(new LineWriter(), guard);
      const stream = new PassThrough();
      conversation.server.redirect(new ByteSink(stream));
      conversation.handshake.noteListening('"l"', Buffer.from(LISTEN));
      const replayed = conversation.replay(new AbortController().signal);
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(stream.read(), null);
      guard.mayPass = mayPass;
      conversation.resume();
      await replayed;
      assert.equal(String(stream.read() ?? ''), expected);
    });
  }
});
