import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Hosts } from '../../src/ask/hosts.ts';
import type { Answer, Question, TakeAnswer } from '../../src/core/question.ts';
import { keyOf, questionOf } from '../support/consents.ts';

/** Two sessions with a host each, `one` and `two`; what each was told last, and what was answered. */
function opened() {
  const hosts = new Hosts();
  const told: Record<string, readonly string[]> = {};
  const texts: string[] = [];
  const hidden: string[] = [];
  const answers: (Answer & { readonly uid: number })[] = [];
  const persons: Record<string, string | null> = {};
  const join = (id: string, uid = 7) =>
    hosts.join({
      id,
      uid,
      tell: (questions) => {
        told[id] = questions.map((question) => question.id);
        texts.push(...questions.map(({ text }) => text));
      },
      whyNoPerson: () => persons[id] ?? null,
    });
  const present = (question: Question, ...sessions: readonly string[]) => {
    const take: TakeAnswer = async (answer, uid) => {
      answers.push({ ...answer, uid });
      return answer.says === 'yes' ? { scope: answer.scope ?? 'session', access: question.access } : null;
    };
    hosts.present(question, take, () => hidden.push(question.id));
    hosts.askedBy(question, new Set(sessions));
  };
  return { hosts, told, texts, hidden, answers, persons, join, present };
}

const [A, B] = [questionOf({ id: 'a' }), questionOf({ id: 'b', key: keyOf({ path: '/home/ana/b' }) })] as const;
const UNKNOWN = { code: 'CONSENT_UNKNOWN' };

describe('Hosts', () => {
  it('tells a host what its own session asks, whole, and nothing that others ask', () => {
    const { told, join, present } = opened();
    for (const id of ['one', 'two']) join(id);
    present(A, 'one');
    present(B, 'one', 'two');
    assert.deepEqual(told, { one: ['a', 'b'], two: ['b'] });
  });

  it('tells a host that comes later what is open, also where its session has only joined a question', () => {
    const { told, join, present, hosts } = opened();
    present(A, 'one');
    join('one');
    join('two');
    assert.deepEqual(told, { one: ['a'] });
    hosts.askedBy(A, new Set(['one', 'two']));
    hosts.askedBy(A, new Set(['two']));
    assert.deepEqual(told, { one: [], two: ['a'] });
  });

  it('tells those who were asked that a question is over', () => {
    const { told, join, present, hosts } = opened();
    join('one');
    present(A, 'one');
    hosts.withdraw(A);
    assert.deepEqual(told, { one: [] });
  });

  it('says what a person needs to know: claims in quotes, nothing hidden', () => {
    const { texts, join, present } = opened();
    join('one');
    present({ ...A, asker: { ...A.asker, server: 'x\u202e"\nyes' }, reason: 'because' }, 'one');
    const [text = ''] = texts;
    assert.match(text, /^rootsd: "x\\u202e\\"\\nyes" \(claimed\) asks for read-write access\n/);
    for (const part of [
      'path: /home/ana/a',
      'rule: r (user.yaml:2)',
      'reason: because',
      'scopes: session, 8h, always',
    ]) {
      assert.ok(text.split('\n').includes(part), `${part} in ${text}`);
    }
  });

  it('takes an answer from a host, under the uid of its session', async () => {
    const { answers, join, present, hosts } = opened();
    join('one', 8);
    present(A, 'one');
    assert.deepEqual(await hosts.answer('one', { id: 'a', says: 'yes', scope: '8h' }), {
      scope: '8h',
      access: 'read-write',
    });
    assert.equal(await hosts.answer('one', { id: 'a', says: 'no' }), null);
    assert.deepEqual(answers, [
      { says: 'yes', scope: '8h', uid: 8 },
      { says: 'no', uid: 8 },
    ]);
  });

  it('takes none for what that very session was not told', async () => {
    const { answers, join, present, hosts } = opened();
    for (const id of ['one', 'two']) join(id);
    present(A, 'one');
    await assert.rejects(hosts.answer('two', { id: 'a', says: 'yes' }), UNKNOWN);
    await assert.rejects(hosts.answer('three', { id: 'a', says: 'yes' }), UNKNOWN);
    await assert.rejects(hosts.answer('one', { id: 'other', says: 'yes' }), UNKNOWN);
    hosts.askedBy(A, new Set(['two']));
    await assert.rejects(hosts.answer('one', { id: 'a', says: 'yes' }), UNKNOWN);
    hosts.leave('two');
    await assert.rejects(hosts.answer('two', { id: 'a', says: 'yes' }), UNKNOWN);
    assert.deepEqual(answers, []);
  });

  it('takes none where no person is behind it', async () => {
    const { answers, persons, join, present, hosts } = opened();
    join('one');
    present(A, 'one');
    persons.one = 'an MCP server has started this process';
    await assert.rejects(hosts.answer('one', { id: 'a', says: 'yes' }), { code: 'CONSENT_NEEDS_TERMINAL' });
    assert.equal(await hosts.answer('one', { id: 'a', says: 'pass' }), null, 'nobody is needed to leave it to others');
    assert.deepEqual(answers, []);
  });

  it('shows a question as long as one of those who ask has a host that can, and has not left it to others', async () => {
    const { hidden, join, present, hosts } = opened();
    join('two');
    present(A, 'one');
    assert.equal(hosts.shows(A), false);
    join('one');
    assert.equal(hosts.shows(A), true);
    hosts.askedBy(A, new Set(['one', 'two']));
    hidden.length = 0;
    await hosts.answer('one', { id: 'a', says: 'pass' });
    assert.deepEqual([hosts.shows(A), hidden], [true, []]);
    hosts.leave('two');
    assert.deepEqual([hosts.shows(A), hidden], [false, ['a']]);
  });

  it('does not show again what a host has left to others, and takes no answer to it', async () => {
    const { told, answers, join, present, hosts } = opened();
    for (const id of ['one', 'two']) join(id);
    present(A, 'one', 'two');
    assert.equal(await hosts.answer('one', { id: 'a', says: 'pass' }), null);
    assert.deepEqual(told, { one: [], two: ['a'] });
    hosts.askedBy(A, new Set(['two']));
    hosts.askedBy(A, new Set(['one', 'two']));
    assert.deepEqual(told, { one: [], two: ['a'] });
    await assert.rejects(hosts.answer('one', { id: 'a', says: 'yes' }), UNKNOWN);
    assert.deepEqual(answers, []);
  });

  it('never shows what an administrator must answer, nor takes an answer to it, whatever the uid', async () => {
    const { told, join, present, hosts } = opened();
    join('one', 0);
    present({ ...A, approver: 'admin' }, 'one');
    assert.deepEqual(told, {});
    await assert.rejects(hosts.answer('one', { id: 'a', says: 'yes' }), UNKNOWN);
  });
});
