import assert from 'node:assert/strict';
import { unrefTimer } from '../../src/client/timer.ts';
import { Conversation } from '../../src/run/conversation.ts';
import type { Guard } from '../../src/run/guard/guard.ts';
import type { LineWriter } from '../../src/run/line-writer.ts';
import { Notices } from '../../src/run/notices.ts';

const NEVER = () => assert.fail();

/** A conversation with a host that offers no roots; no fault may come. */
export function makeConversation(host: LineWriter, guard: Guard): Conversation {
  return new Conversation({
    host,
    guard,
    asks: { request: NEVER, callEnded: NEVER, holds: NEVER, onAsked: NEVER, onForms: NEVER },
    notices: new Notices(() => undefined),
    timer: unrefTimer,
    onEra: () => undefined,
    onInitialized: () => undefined,
    onHostRootsChanged: () => undefined,
    hostRoots: { areWanted: () => false, onTold: () => assert.fail(), areSought: () => false, warn: assert.fail },
    answer: () => undefined,
    onHostEnd: () => undefined,
    isHostHeard: () => true,
    onFault: (fault) => assert.fail(fault),
  });
}
