import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answered, Consents } from '../../src/core/consent.ts';
import { decide } from '../../src/core/decide.ts';
import type { Decision } from '../../src/core/decision.ts';
import type { RealPath } from '../../src/core/path.ts';
import { evidenceFrom, layerFrom, peer, rootNamed } from '../support/policy.ts';

/** Answers by rule: `rw`, `ro`, `ro of rw` (what was given of what was asked), `no`. */
type Answers = Readonly<Record<string, string>>;

function consentsOf(answers: Answers): Consents {
  const access = (text = '') => (text === 'rw' ? 'read-write' : 'read-only');
  return {
    answerTo({ rule }): Answered | null {
      const answer = answers[rule.id];
      if (answer === undefined) return null;
      if (answer === 'no') return { state: 'refused', why: 'somebody has refused it' };
      const [given, asked] = answer.split(' of ');
      return { state: 'granted', access: access(given), asked: access(asked ?? given), why: 'somebody has agreed' };
    },
  };
}

function decideA(rules: string, answers: Answers, root = 'path: ~/a', place: string | null = '/home/ana/a'): Decision {
  const layer = layerFrom(`roots: { a: { ${root} } }\nrules: [${rules}]`);
  const roots = evidenceFrom([layer]).roots.map((one) => ({
    ...one,
    place: place === null ? null : { path: place as RealPath, identity: '1:2:3' },
  }));
  const evidence = evidenceFrom([layer], { roots });
  return decide(evidence, peer('s'), rootNamed(evidence, 'a'), { carves: false, consents: consentsOf(answers) });
}

function short({ effect, kind, access, askable, rule, offer }: Decision): string {
  assert.equal(offer?.access ?? null, askable);
  return [effect, kind, access, rule?.id, askable === null ? null : `+ ${askable} by ${offer?.rule.id}`]
    .filter((part) => part !== null)
    .join(' ');
}

describe('decide() with what people have answered', () => {
  const ask = '{id: q, ask: [a]}';
  const askWrite = '{id: q, ask: [a], access: read-write}';
  const must = '{id: m, ask: [a], mandatory: true, access: read-write}';
  const also = '{id: n, ask: [a], mandatory: true}';
  const allow = '{id: w, allow: [a]}';
  type Row = [says: string, rules: string, answers: Answers, outcome: string];
  const rows: readonly Row[] = [
    ['asks where nobody has answered', ask, {}, 'ask pending q + read-only by q'],
    ['allows what somebody has agreed to', ask, { q: 'ro' }, 'allow consent read-only q'],
    ['denies what somebody has refused', ask, { q: 'no' }, 'deny refused q'],
    ['gives no more than the rule offers', ask, { q: 'rw' }, 'allow consent read-only q'],
    [
      'gives less where less was agreed to, and does not ask for the rest',
      askWrite,
      { q: 'ro of rw' },
      'allow consent read-only q',
    ],
    ['asks for what the rule offers since', askWrite, { q: 'ro' }, 'allow consent read-only q + read-write by q'],
    ['takes no answer to another rule', ask, { z: 'rw' }, 'ask pending q + read-only by q'],
    [
      'takes the most of several',
      `${ask}, {id: p, ask: [a], access: read-write}`,
      { q: 'ro', p: 'rw' },
      'allow consent read-write p',
    ],
    [
      'asks by another rule where one was refused',
      `${ask}, {id: p, ask: [a], access: read-write}`,
      { p: 'no' },
      'ask pending q + read-only by q',
    ],
    [
      'denies where all were refused, by the first',
      `${ask}, {id: p, ask: [a]}`,
      { p: 'no', q: 'no' },
      'deny refused p',
    ],
    // 5. mandatory
    ['asks although a rule allows', `${must}, ${allow}`, {}, 'ask pending m + read-write by m'],
    ['allows once it is agreed to', `${must}, ${allow}`, { m: 'rw' }, 'allow consent read-write m'],
    ['denies although a rule allows', `${must}, ${allow}`, { m: 'no' }, 'deny refused m'],
    ['does not take the answer to another ask', `${must}, ${ask}`, { q: 'ro' }, 'ask pending m + read-write by m'],
    ['wants each of several', `${must}, ${also}`, { m: 'rw' }, 'ask pending n + read-only by n'],
    ['gives the least of several', `${must}, ${also}`, { m: 'rw', n: 'ro' }, 'allow consent read-only n'],
    ['denies where one of several was refused', `${must}, ${also}`, { m: 'rw', n: 'no' }, 'deny refused n'],
    // 6. the difference
    ['offers what an ask adds to an allow', `${allow}, ${askWrite}`, {}, 'allow rule read-only w + read-write by q'],
    ['adds what somebody has agreed to', `${allow}, ${askWrite}`, { q: 'rw' }, 'allow consent read-write q'],
    ['keeps the allow where the rest was refused', `${allow}, ${askWrite}`, { q: 'no' }, 'allow rule read-only w'],
    ['keeps the allow where less was agreed to', `${allow}, ${askWrite}`, { q: 'ro of rw' }, 'allow rule read-only w'],
    [
      'keeps what is allowed anyway',
      `{id: w, allow: [a], access: read-write}, ${ask}`,
      { q: 'ro' },
      'allow rule read-write w',
    ],
    // 2. a deny beats every consent
    ['denies what a rule denies', `${ask}, {id: d, deny: [~/a]}`, { q: 'ro' }, 'deny explicit d'],
    ['withholds what holds a denied place', `${ask}, {id: d, deny: [~/a/x]}`, { q: 'ro' }, 'deny nested d'],
  ];
  for (const [says, rules, answers, outcome] of rows) {
    it(says, () => assert.equal(short(decideA(rules, answers)), outcome));
  }

  it('caps what was agreed to', () => {
    assert.equal(short(decideA(askWrite, { q: 'rw' }, 'path: ~/a, access: read-only')), 'allow consent read-only q');
  });

  it('takes a consent where a sensitive place is allowed, and offers a session at most', () => {
    const sensitive = 'path: ~/a, sensitive: true';
    const pending = decideA(allow, {}, sensitive);
    assert.equal(short(pending), 'ask pending w + read-only by w');
    assert.deepEqual(pending.offer?.scopes, ['session']);
    assert.equal(short(decideA(allow, { w: 'ro' }, sensitive)), 'allow consent read-only w');
  });

  it('takes no consent to a place that is not there', () => {
    assert.equal(decideA(ask, { q: 'ro' }, 'path: ~/a', null).kind, 'pending');
  });
});
