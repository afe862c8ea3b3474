// Grants, questions and clocks for tests of consent.
import type { ConsentKey } from '../../src/core/consent.ts';
import type { KeptConsents } from '../../src/core/consent-record.ts';
import type { Grant } from '../../src/core/grant.ts';
import type { Moment } from '../../src/core/moment.ts';
import type { Answerer, Asker, Question } from '../../src/core/question.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const START: Moment = { wallMs: Date.UTC(2026, 0, 1), boot: 'one', bootMs: 1_000_000 };
export const ASKER: Asker = { server: 's', class: 'claimed', host: null, user: 'ana' };
export const BY_COMMAND: Answerer = { channel: 'command', uid: 1000 };

/** Later, by clocks that nobody has set. */
export function later(moment: Moment, ms: number): Moment {
  return { ...moment, wallMs: moment.wallMs + ms, bootMs: moment.bootMs + ms };
}

export function keyOf(more: Partial<ConsentKey> = {}): ConsentKey {
  const place = { path: '/home/ana/a', identity: '1:2:3' };
  return { facts: ['class=claimed', 'server=s'], uid: 1000, ...place, rule: 'r', digest: 'd'.repeat(64), ...more };
}

export function grantOf(more: Partial<Grant> = {}): Grant {
  return {
    id: 'g1',
    key: keyOf(),
    asker: ASKER,
    root: 'a',
    access: 'read-only',
    asked: 'read-only',
    scope: '8h',
    session: null,
    given: START,
    usedMs: START.wallMs,
    ...more,
  };
}

export function questionOf(more: Partial<Question> = {}): Question {
  return {
    id: 'q1',
    key: keyOf(),
    asker: ASKER,
    root: 'a',
    written: '/home/ana/a',
    access: 'read-write',
    rule: { id: 'r', file: 'user.yaml', line: 2, layer: 'user' },
    reason: null,
    scopes: ['session', '8h', 'always'],
    approver: 'user',
    since: '2026-01-01T00:00:00.000Z',
    until: '2026-01-01T00:01:00.000Z',
    ...more,
  };
}

export function keptOf(...grants: readonly Grant[]): KeptConsents {
  return { lasting: { ms: START.wallMs, at: START }, grants, refusals: [], history: [] };
}
