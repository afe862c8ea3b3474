import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { decide } from '../../src/core/decide.ts';
import { momentText, nextEndMs, parseMoment } from '../../src/core/ending.ts';
import { evidenceFrom, layerFrom, peer, rootNamed } from '../support/policy.ts';

const END = '2026-06-01T12:00:00Z';
const END_MS = Date.parse(END);

test('parseMoment() reads moments that the calendar has, and no others', () => {
  assert.equal(parseMoment(END), END_MS);
  assert.equal(parseMoment('2028-02-29T23:59:59Z'), Date.parse('2028-02-29T23:59:59Z'));
  for (const text of [
    '2026-02-29T00:00:00Z',
    '2026-02-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-06-01T24:00:00Z',
    '2026-06-01T12:60:00Z',
    '2026-06-01T12:00:00+02:00',
    '2026-06-01T12:00:00.5Z',
    '2026-06-01',
    'tomorrow',
  ]) {
    assert.equal(parseMoment(text), null, text);
  }
  assert.equal(momentText(END_MS + 999), END);
});

test('nextEndMs() is the first end that is still to come', () => {
  const rules = [{}, { untilMs: 5 }, { untilMs: 3 }, { untilMs: 9 }];
  assert.deepEqual(
    [0, 3, 4, 8, 9].map((nowMs) => nextEndMs(rules, nowMs)),
    [3, 5, 5, 9, null],
  );
});

describe('decide() with rules that end', () => {
  const ENDING = `
roots: { a: { path: ~/a } }
rules: [{ id: w, allow: [a], access: read-write, servers: [s], until: "${END}" }, { id: r, allow: [a], servers: [s, t] }]`;
  const ALONE = ENDING.replace(/, { id: r,.*\]/, ']');
  const decided = (text: string, nowMs: number | null, server = 's') => {
    const evidence = { ...evidenceFrom([layerFrom(text)]), nowMs };
    const { effect, access, why } = decide(evidence, peer(server), rootNamed(evidence, 'a'), { carves: false });
    return [effect, access, why];
  };

  it('gives what they give until then, and nothing of it from that moment on', () => {
    const allowed = ['allow', 'read-write', `rule "w" allows it until ${END}`];
    assert.deepEqual(decided(ENDING, END_MS - 1), allowed);
    assert.deepEqual(decided(ENDING, END_MS), ['allow', 'read-only', 'rule "r" allows it']);
    assert.deepEqual(decided(ENDING, Number.POSITIVE_INFINITY), ['allow', 'read-only', 'rule "r" allows it']);
    assert.deepEqual(decided(ENDING, null), allowed, 'where no time is looked at: a policy proves itself at any time');
  });

  it('says that it is time that has taken it away, to whom it was given', () => {
    assert.deepEqual(decided(ALONE, END_MS), ['deny', null, `rule "w" allowed it until ${END}`]);
    assert.deepEqual(decided(ALONE, END_MS, 't'), ['deny', null, 'no rule allows it']);
  });
});
