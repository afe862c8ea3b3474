import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Observed } from '../../src/core/peer.ts';
import type { Answer } from '../../src/core/question.ts';
import { TerminalCodes } from '../../src/daemon/terminal-codes.ts';
import { FakeClock } from '../support/clock.ts';
import { MINUTE_MS, questionOf } from '../support/consents.ts';

const YES: Answer = { says: 'yes', scope: 'session' };

/** Codes `1`, `2` …; the caller's session is that of its pid. */
function opened({ canWrite = true } = {}) {
  const clock = new FakeClock();
  const written: (readonly [leader: number, text: string])[] = [];
  const codes = new TerminalCodes({
    clock,
    newCode: () => String(written.length + 1),
    sessionOf: (observed) => observed?.pid ?? null,
    write: (leader, text) => {
      if (canWrite) written.push([leader, text]);
      return canWrite;
    },
  });
  const by = (pid: number | null, answer = YES, id = 'q1') => {
    const observed = pid === null ? null : ({ pid } as Observed);
    return { question: questionOf({ id }), answer, observed, launchers: [] };
  };
  return { clock, codes, written, by };
}

describe('TerminalCodes', () => {
  it('shows question, answer and code, and takes the code once', () => {
    const { codes, written, by } = opened();
    assert.equal(codes.show(by(5)), true);
    const [leader, text = ''] = written[0] ?? [];
    assert.equal(leader, 5);
    for (const part of ['/home/ana/a', 'yes (session, read-write)', 'asked for it: 1\n'])
      assert.ok(text.includes(part));
    assert.equal(codes.take(by(5), '1'), true);
    assert.equal(codes.take(by(5), '1'), false);
  });

  it('takes it for the very answer that was shown, from the session that it was shown to', () => {
    const { codes, by } = opened();
    codes.show(by(5));
    for (const other of [by(6), by(null), by(5, { says: 'yes', scope: 'always' }), by(5, YES, 'q2')]) {
      assert.equal(codes.take(other, '1'), false);
      codes.show(by(5));
    }
    assert.equal(codes.take(by(5), '1'), false, 'a newer one was shown');
  });

  it('lets nobody guess, and forgets it', async () => {
    const { codes, by, clock } = opened();
    codes.show(by(5));
    for (const guess of ['7', '8', '9']) assert.equal(codes.take(by(5), guess), false);
    assert.equal(codes.take(by(5), '1'), false);
    codes.show(by(5));
    await clock.advance(2 * MINUTE_MS);
    assert.equal(codes.take(by(5), '2'), false);
  });

  it('shows nothing where no person sits, where it cannot be written, or too often', async () => {
    const { codes, by, written, clock } = opened();
    assert.equal(codes.show(by(null)), false);
    assert.equal(opened({ canWrite: false }).codes.show(by(5)), false);
    const shown = () => Array.from({ length: 10 }, () => codes.show(by(5))).filter(Boolean).length;
    assert.equal(shown(), 5);
    await clock.advance(MINUTE_MS);
    assert.equal(shown(), 5);
    assert.equal(written.length, 10);
  });
});
