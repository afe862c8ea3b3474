import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { type Answer, byLength, readAnswer } from '../../src/core/question.ts';
import { BY_COMMAND, questionOf } from '../support/consents.ts';

test('byLength() puts what ends first first', () => {
  assert.deepEqual(byLength(['always', '2h', 'session', '30m', 'once']), ['once', 'session', '30m', '2h', 'always']);
});

describe('readAnswer()', () => {
  const rows: readonly [says: string, answer: Answer, outcome: object | null | string][] = [
    ['takes a no', { says: 'no' }, null],
    [
      'takes the first scope and the access that is asked for',
      { says: 'yes' },
      { scope: 'session', access: 'read-write' },
    ],
    ['takes less', { says: 'yes', scope: '8h', access: 'read-only' }, { scope: '8h', access: 'read-only' }],
    ['refuses a scope that is not offered', { says: 'yes', scope: '24h' }, 'CONSENT_ANSWER'],
    ['refuses a word that is no scope', { says: 'yes', scope: '__proto__' }, 'CONSENT_ANSWER'],
    ['refuses a note without end', { says: 'no', note: 'x'.repeat(501) }, 'CONSENT_ANSWER'],
  ];
  for (const [says, answer, outcome] of rows) {
    it(says, () => {
      const read = () => readAnswer(questionOf(), answer, BY_COMMAND);
      if (typeof outcome === 'string') assert.throws(read, { code: outcome });
      else assert.deepEqual(read(), outcome);
    });
  }
  it('refuses more than is asked for', () => {
    const question = questionOf({ access: 'read-only' });
    assert.throws(() => readAnswer(question, { says: 'yes', access: 'read-write' }, BY_COMMAND), {
      code: 'CONSENT_ANSWER',
    });
  });
  it('takes an answer that an admin must give from root alone, a no too', () => {
    const question = questionOf({ approver: 'admin' });
    for (const says of ['yes', 'no'] as const) {
      assert.throws(() => readAnswer(question, { says }, BY_COMMAND), { code: 'CONSENT_ADMIN_ONLY' });
      readAnswer(question, { says }, { ...BY_COMMAND, uid: 0 });
    }
  });
});
