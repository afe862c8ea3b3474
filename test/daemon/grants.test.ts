import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Answered, Asked } from '../../src/core/consent.ts';
import type { Moment } from '../../src/core/moment.ts';
import type { RealPath } from '../../src/core/path.ts';
import type { Peer } from '../../src/core/peer.ts';
import { composePolicy } from '../../src/core/policy.ts';
import type { Given, Question } from '../../src/core/question.ts';
import type { AnsweredQuestion } from '../../src/daemon/consent-journal.ts';
import { Grants } from '../../src/daemon/grants.ts';
import { LastingClock } from '../../src/daemon/lasting-clock.ts';
import { type ConsentStore, openConsentStore } from '../../src/state/consents.ts';
import { FakeClock } from '../support/clock.ts';
import { ASKER, BY_COMMAND, DAY_MS, HOUR_MS, keyOf, later, MINUTE_MS, questionOf, START } from '../support/consents.ts';
import { layerFrom, peer } from '../support/policy.ts';
import { makeEntry, temporaryDirectory } from '../support/tree.ts';

const OWNER = { uid: process.getuid?.() ?? -1 };
const POLICY = composePolicy([
  layerFrom(
    'roots: { a: { path: ~/a } }\nrules: [{ id: r, ask: [a], access: read-write, scopes: [once, session, 8h, always] }]',
  ),
]);
const [RULE] = POLICY.rules;
assert.ok(RULE);
const PLACE = { path: '/home/ana/a' as RealPath, identity: '1:2:3' };
const ASKED: Asked = { peer: peer('s'), place: PLACE, rule: RULE, scopes: RULE.scopes, policy: POLICY };

/** A store, clocks that a test sets, and as many starts of a daemon as it wants. */
function home(t: TestContext) {
  const stores: ConsentStore[] = [];
  t.after(() => Promise.all(stores.map((store) => store.close())));
  const path = join(temporaryDirectory(t), 'consents.json');
  const time: { moment: Moment } = { moment: START };
  const ids = { next: 0 };
  const recorded: (readonly [event: string, fields: Readonly<Record<string, unknown>>])[] = [];
  const start = async () => {
    const clock = new FakeClock();
    const store = await openConsentStore({ path, owner: OWNER, log: () => {}, clock });
    stores.push(store);
    const changes = { count: 0, react: (): void => {} };
    /** Of each save, whether what was kept before must not come back. */
    const saves: boolean[] = [];
    const spied: ConsentStore = {
      path: store.path,
      kept: store.kept,
      refusal: store.refusal,
      problems: () => store.problems(),
      close: () => store.close(),
      save: (consents, options) => {
        saves.push(options.isNarrower);
        return store.save(consents, options);
      },
    };
    const grants = new Grants({
      store: spied,
      clock,
      time: new LastingClock(() => time.moment, store.kept?.lasting ?? null),
      newId: () => {
        ids.next += 1;
        return `g${ids.next}`;
      },
      record: (_level, event, fields = {}) => recorded.push([event, fields]),
      onChange: () => {
        changes.count += 1;
        changes.react();
      },
    });
    const onChange = (react: () => void) => {
      changes.react = react;
    };
    /** Lets time pass for all clocks, as it does. */
    const pass = async (ms: number) => {
      time.moment = later(time.moment, ms);
      await clock.advance(Math.min(ms, MINUTE_MS));
    };
    return { grants, store, clock, changes, onChange, pass, saves };
  };
  return { start, time, recorded, path, ids };
}

const NO_CALLS: AnsweredQuestion['calls'] = new Map();

function questionFor(grants: Grants, asked: Asked = ASKED, more: Partial<Question> = {}): Question {
  return questionOf({ key: grants.keyOf(asked) ?? assert.fail(), ...more });
}

function yes(grants: Grants, given: Given, sessions: readonly string[] = ['one'], asked?: Asked, calls = NO_CALLS) {
  const answered = {
    question: questionFor(grants, asked),
    answer: { says: 'yes' },
    answerer: BY_COMMAND,
    sessions,
    calls,
  } as const;
  return grants.give(answered, given);
}

function no(grants: Grants, sessions: readonly string[] = ['one']) {
  const answer = { says: 'no' } as const;
  return grants.refuse({ question: questionFor(grants), answer, answerer: BY_COMMAND, sessions, calls: NO_CALLS });
}

function answer(grants: Grants, session: string | null = 'one', asked: Asked = ASKED): string {
  const answered: Answered | null = grants.consentsOf(session).answerTo(asked);
  return answered === null ? 'nothing' : answered.state === 'refused' ? 'refused' : answered.access;
}

const LONG: Given = { scope: '8h', access: 'read-write' };
const ALWAYS: Given = { scope: 'always', access: 'read-write' };
const SESSION: Given = { scope: 'session', access: 'read-only' };
const ONCE: Given = { scope: 'once', access: 'read-only' };

test('a grant of a time holds for every session with its key, and over a restart of the daemon', async (t) => {
  const { start } = home(t);
  const { grants, store } = await start();
  assert.equal(answer(grants), 'nothing');
  await yes(grants, LONG);
  assert.equal(answer(grants), 'read-write');
  assert.equal(answer(grants, 'two'), 'read-write');
  assert.equal(answer(grants, null), 'read-write');
  await store.close();
  const again = await start();
  assert.equal(answer(again.grants), 'read-write');
  assert.equal(again.grants.history.length, 1);
});

test('a grant for a session holds for the sessions that asked, and ends with each of them', async (t) => {
  const { start } = home(t);
  const { grants, changes } = await start();
  await yes(grants, SESSION, ['one', 'two']);
  assert.deepEqual(
    ['one', 'two', 'three', null].map((session) => answer(grants, session)),
    ['read-only', 'read-only', 'nothing', 'nothing'],
  );
  const before = changes.count;
  grants.sessionClosed('one');
  assert.ok(changes.count > before);
  assert.deepEqual(
    ['one', 'two'].map((session) => answer(grants, session)),
    ['nothing', 'read-only'],
  );
  assert.equal(answer((await start()).grants, 'two'), 'nothing');
});

test('what is given once ends with the calls that it was given for, and without one with the session', async (t) => {
  const { start, recorded } = home(t);
  const { grants, changes } = await start();
  const calls = new Map([['one', [1, 2]]]);
  await yes(grants, ONCE, ['one', 'two'], ASKED, calls);
  const answers = () => ['one', 'two', null].map((session) => answer(grants, session));
  assert.deepEqual(answers(), ['read-only', 'read-only', 'nothing']);
  for (const [session, call] of [
    ['two', 1],
    ['one', 3],
    ['one', 1],
    ['one', 1],
  ] as const)
    grants.callEnded(session, call);
  assert.deepEqual(answers(), ['read-only', 'read-only', 'nothing'], 'another one goes on');
  const before = changes.count;
  grants.callEnded('one', 2);
  assert.deepEqual([answers(), changes.count - before], [['nothing', 'read-only', 'nothing'], 1]);
  const [, ended] = recorded.find(([event]) => event === 'consent ended') ?? assert.fail();
  assert.deepEqual([ended.how, ended.root], ['ended', 'a']);
  grants.sessionClosed('two');
  assert.deepEqual(answers(), ['nothing', 'nothing', 'nothing']);
});

test('what is given once ends with its call, however long that has used it', async (t) => {
  const { start } = home(t);
  const { grants, pass } = await start();
  await yes(grants, ONCE, ['one'], ASKED, new Map([['one', [1]]]));
  await pass(2 * DAY_MS);
  assert.equal(answer(grants), 'read-only');
  grants.callEnded('one', 1);
  assert.equal(answer(grants), 'nothing');
});

test('only what is given once ends with a call', async (t) => {
  const { start } = home(t);
  const { grants } = await start();
  for (const given of [SESSION, LONG]) {
    await yes(grants, given, ['one'], ASKED, new Map([['one', [1]]]));
    grants.callEnded('one', 1);
    assert.notEqual(answer(grants), 'nothing', given.scope);
    await grants.revoke(() => true, BY_COMMAND);
  }
});

test('a call that ends while its yes is being written down gets nothing of it', async (t) => {
  const { start } = home(t);
  const { grants } = await start();
  const given = yes(grants, ONCE, ['one'], ASKED, new Map([['one', [1]]]));
  grants.callEnded('one', 1);
  await given;
  assert.equal(answer(grants), 'nothing');
  assert.deepEqual(grants.all, []);
});

test('a grant counts for no other peer, place, directory of the same name, user or rule', async (t) => {
  const { start } = home(t);
  const { grants } = await start();
  await yes(grants, ALWAYS);
  const edited = composePolicy([
    layerFrom('roots: { a: { path: ~/a } }\nrules: [{ id: r, ask: [a], scopes: [session, 8h, always] }]'),
  ]);
  const others: readonly Asked[] = [
    { ...ASKED, peer: peer('t') },
    { ...ASKED, peer: peer('s', { host: 'h' }) },
    { ...ASKED, peer: peer('s', { observed: { user: { uid: 1001 } } }) },
    { ...ASKED, peer: peer('s', { observed: { user: {} } }) },
    { ...ASKED, place: { ...PLACE, path: '/home/ana/b' as RealPath } },
    { ...ASKED, place: { ...PLACE, identity: '1:2:4' } },
    { ...ASKED, rule: edited.rules[0] ?? RULE, policy: edited },
    { ...ASKED, scopes: ['session'] },
  ];
  for (const asked of others) assert.equal(answer(grants, null, asked), 'nothing');
  assert.equal(answer(grants, null), 'read-write');
});

test('a grant ends when its time is over, by whichever clock, and those who decide are told', async (t) => {
  const { start, time } = home(t);
  const { grants, changes, pass } = await start();
  await yes(grants, LONG);
  await pass(8 * HOUR_MS - 1);
  assert.equal(answer(grants), 'read-write');
  const before = changes.count;
  await pass(1);
  assert.equal(answer(grants), 'nothing');
  await pass(MINUTE_MS);
  assert.ok(changes.count > before);
  assert.deepEqual(grants.all, []);
  await yes(grants, LONG);
  time.moment = { ...later(time.moment, 8 * HOUR_MS), wallMs: START.wallMs };
  assert.equal(answer(grants), 'nothing', 'set back');
  await yes(grants, LONG);
  time.moment = { ...time.moment, wallMs: time.moment.wallMs + 8 * HOUR_MS };
  assert.equal(answer(grants), 'nothing', 'set forward');
});

test('a suspended machine, whose timers stand still, finds a grant over that has ended meanwhile', async (t) => {
  const { start, time } = home(t);
  const { grants, changes, clock } = await start();
  await yes(grants, LONG);
  time.moment = later(time.moment, 9 * HOUR_MS);
  const before = changes.count;
  await clock.advance(1_000);
  assert.equal(changes.count, before + 1);
  assert.deepEqual(grants.all, []);
});

test('a grant of a time ends with the boot, one for always does not and ends when nobody uses it', async (t) => {
  const { start, time } = home(t);
  const first = await start();
  await yes(first.grants, LONG);
  await yes(first.grants, ALWAYS);
  await first.store.close();
  time.moment = { wallMs: START.wallMs + MINUTE_MS, boot: 'two', bootMs: 10 };
  const second = await start();
  await second.clock.advance(1);
  assert.deepEqual(
    second.grants.all.map(({ scope }) => scope),
    ['always'],
  );
  await second.pass(80 * DAY_MS);
  assert.equal(answer(second.grants), 'read-write', 'used');
  await second.pass(80 * DAY_MS);
  assert.equal(answer(second.grants), 'read-write', 'used again');
  await second.store.close();
  time.moment = { ...later(time.moment, 89 * DAY_MS), boot: 'three' };
  const third = await start();
  assert.equal(third.grants.all.length, 1);
  await third.pass(DAY_MS);
  assert.equal(answer(third.grants), 'nothing');
});

test('a grant that one session uses all the time does not end, though nothing else happens', async (t) => {
  const { start, time } = home(t);
  const { grants, clock, onChange } = await start();
  await yes(grants, ALWAYS);
  onChange(() => answer(grants));
  for (let day = 0; day < 200; day += 1) {
    time.moment = later(time.moment, DAY_MS);
    await clock.advance(DAY_MS);
  }
  assert.equal(grants.all.length, 1);
});

test('a grant that nobody uses ends in time, though the clock is set back with another boot', async (t) => {
  const { start, time } = home(t);
  const { grants, clock, store } = await start();
  await yes(grants, ALWAYS);
  for (let day = 0; day < 80; day += 1) {
    time.moment = later(time.moment, DAY_MS);
    await clock.advance(DAY_MS);
  }
  await store.close();
  time.moment = { ...START, boot: 'two' };
  const second = await start();
  await second.pass(10 * DAY_MS - 1);
  assert.equal(second.grants.all.length, 1);
  await second.pass(DAY_MS);
  assert.equal(answer(second.grants), 'nothing');
});

test('of two grants for one thing the one that gives more counts', async (t) => {
  const { start } = home(t);
  const { grants } = await start();
  await yes(grants, { scope: '8h', access: 'read-only' });
  await yes(grants, ALWAYS);
  assert.equal(answer(grants), 'read-write');
});

test('ten answers of one moment are ten grants', async (t) => {
  const { start } = home(t);
  const { grants, store } = await start();
  const askers = Array.from({ length: 10 }, (_, i) => ({ ...ASKED, peer: peer(`s${i}`) }));
  await Promise.all(askers.map((asked) => yes(grants, LONG, ['one'], asked)));
  await store.close();
  const again = await start();
  for (const asked of askers) assert.equal(answer(again.grants, null, asked), 'read-write');
});

test('a first no holds for the sessions that asked, a second one for everybody until it is reset', async (t) => {
  const { start } = home(t);
  const { grants, store } = await start();
  await no(grants, ['one', 'two']);
  assert.deepEqual(
    ['one', 'two', 'three', null].map((session) => answer(grants, session)),
    ['refused', 'refused', 'nothing', 'nothing'],
  );
  await no(grants, ['three']);
  assert.equal(answer(grants, 'four'), 'refused');
  await store.close();
  const again = await start();
  assert.equal(answer(again.grants, null), 'refused');
  assert.equal((await again.grants.reset(BY_COMMAND)).length, 1);
  assert.equal(answer(again.grants, null), 'nothing');
  assert.equal(answer((await start()).grants, null), 'nothing');
});

test('a no that a yes or a reset has taken back does not come back with that of another session', async (t) => {
  const { start } = home(t);
  const { grants } = await start();
  await no(grants, ['one']);
  await yes(grants, SESSION, ['two']);
  await no(grants, ['three']);
  assert.equal(answer(grants, 'one'), 'nothing');
  await grants.reset(BY_COMMAND);
  await no(grants, ['four']);
  assert.equal(answer(grants, 'three'), 'nothing');
});

test('who has said no to more is not asked for it again, whatever was asked before', async (t) => {
  const { start } = home(t);
  const { grants } = await start();
  const question = questionFor(grants, ASKED, { access: 'read-only' });
  const answered = {
    question,
    answer: { says: 'yes' },
    answerer: BY_COMMAND,
    sessions: ['one'],
    calls: NO_CALLS,
  } as const;
  await grants.give(answered, { scope: '8h', access: 'read-only' });
  const asked = () => {
    const given = grants.consentsOf('one').answerTo(ASKED);
    return given?.state === 'granted' && [given.access, given.asked];
  };
  assert.deepEqual(asked(), ['read-only', 'read-only']);
  await no(grants);
  assert.deepEqual(asked(), ['read-only', 'read-write']);
});

test('a person who asks about a name hears what was given to peers of that name, in their class', async (t) => {
  const { start } = home(t);
  const { grants } = await start();
  const asked = { ...ASKED, peer: peer('s', { class: 'launched' }) };
  const question = questionFor(grants, asked, { asker: { ...ASKER, class: 'launched' } });
  await grants.give({ question, answer: { says: 'yes' }, answerer: BY_COMMAND, sessions: [], calls: NO_CALLS }, ALWAYS);
  const named = (asker: Peer) => grants.consentsNamed(asker).answerTo(ASKED)?.state ?? 'nothing';
  assert.deepEqual(
    [peer('s', { fulfils: { server: true } }), peer('s'), peer('t', { fulfils: { server: true } })].map(named),
    ['granted', 'nothing', 'nothing'],
  );
});

test('ten thousand refusals are remembered, and of more the latest', async (t) => {
  const { start } = home(t);
  const { grants } = await start();
  const refuse = (i: number) => {
    const question = questionOf({ key: keyOf({ path: `/p/${i}` }) });
    return grants.refuse({ question, answer: { says: 'no' }, answerer: BY_COMMAND, sessions: [], calls: NO_CALLS });
  };
  const numbers = Array.from({ length: 10_002 }, (_, i) => i);
  await Promise.all([...numbers.slice(0, 10_000), 0, ...numbers.slice(10_000)].map(refuse));
  const { refusals } = grants;
  assert.deepEqual(
    [refusals.length, refusals[0]?.key.path, refusals.find(({ key }) => key.path === '/p/0')?.count],
    [10_000, '/p/3', 2],
  );
});

test('a yes takes back what was refused, and a no to more leaves what was given', async (t) => {
  const { start } = home(t);
  const { grants } = await start();
  await no(grants);
  await no(grants);
  await yes(grants, { scope: '8h', access: 'read-only' });
  assert.equal(answer(grants, 'five'), 'read-only');
  await no(grants);
  const answered = grants.consentsOf('one').answerTo(ASKED);
  assert.deepEqual(answered?.state === 'granted' && [answered.access, answered.asked], ['read-only', 'read-write']);
  await yes(grants, { scope: '8h', access: 'read-only' });
  await grants.revoke(() => true, BY_COMMAND);
  assert.equal(answer(grants, 'one'), 'nothing');
});

test('revoke() takes back at once, also for the next start, and says since when it was exposed', async (t) => {
  const { start, recorded } = home(t);
  const { grants, store, pass } = await start();
  await yes(grants, ALWAYS);
  await yes(grants, SESSION);
  await pass(HOUR_MS);
  const revoking = grants.revoke(() => true, BY_COMMAND);
  assert.equal(answer(grants), 'nothing');
  const { grants: revoked, isKept } = await revoking;
  assert.deepEqual([revoked.length, isKept], [2, true]);
  await store.close();
  assert.equal(answer((await start()).grants), 'nothing');
  const ended = recorded.filter(([event]) => event === 'consent ended').map(([, fields]) => fields);
  assert.equal(ended.length, 2);
  const exposed = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T01:00:00.000Z' };
  assert.deepEqual([ended[0]?.exposed, ended[0]?.by, ended[0]?.how], [exposed, BY_COMMAND, 'revoked']);
});

test('revoke() takes back what is just being written down: it never counts', async (t) => {
  const { start } = home(t);
  const { grants, store } = await start();
  const giving = yes(grants, ALWAYS);
  const revoking = grants.revoke(() => true, BY_COMMAND);
  await giving;
  assert.equal(answer(grants), 'nothing');
  assert.equal((await revoking).grants.length, 1);
  assert.equal(answer(grants), 'nothing');
  await store.close();
  assert.equal(answer((await start()).grants), 'nothing');
});

test('what ends or is taken back must not come back from the file', async (t) => {
  const { start } = home(t);
  const { grants, saves, pass } = await start();
  await yes(grants, LONG);
  await yes(grants, ALWAYS);
  await grants.revoke(({ scope }) => scope === 'always', BY_COMMAND);
  await pass(8 * HOUR_MS);
  assert.deepEqual(saves, [false, false, true, true]);
});

test('revoke() says where the next start may not know of it; what ends with its session is in no file', async (t) => {
  const { start, path } = home(t);
  const { grants } = await start();
  await yes(grants, SESSION);
  await yes(grants, ALWAYS);
  rmSync(path);
  makeEntry(path, 'dir in-the-way');
  const revoke = async (scope: string) => {
    const { isKept } = await grants.revoke((grant) => grant.scope === scope, BY_COMMAND);
    return [isKept, answer(grants)];
  };
  assert.deepEqual(await revoke('session'), [true, 'read-write']);
  assert.deepEqual(await revoke('always'), [false, 'nothing']);
});

test('no two grants have one id', async (t) => {
  const { start, ids } = home(t);
  const { grants } = await start();
  await yes(grants, ALWAYS);
  ids.next -= 1;
  await yes(grants, ALWAYS, ['one'], { ...ASKED, peer: peer('t') });
  assert.deepEqual(
    grants.all.map(({ id }) => id),
    ['g1', 'g2'],
  );
});

test('what cannot be written down is not given, unless it ends with the session anyway', async (t) => {
  const { start, path } = home(t);
  const { grants } = await start();
  makeEntry(path, 'dir in-the-way');
  await assert.rejects(yes(grants, LONG), { code: 'CONSENT_NOT_KEPT' });
  assert.equal(answer(grants), 'nothing');
  assert.deepEqual([grants.all, grants.history], [[], []]);
  await yes(grants, SESSION);
  assert.equal(answer(grants), 'read-only');
});

test('a grant does not count before it is written down', async (t) => {
  const { start } = home(t);
  const { grants } = await start();
  const giving = yes(grants, LONG);
  assert.equal(answer(grants), 'nothing');
  assert.deepEqual(grants.all, []);
  await giving;
  assert.equal(answer(grants), 'read-write');
});

test('the history says who answered, when, by which channel and with which note, and has an end', async (t) => {
  const { start } = home(t);
  const { grants } = await start();
  const question = questionFor(grants);
  const note = 'for the review';
  await grants.refuse({
    question,
    answer: { says: 'no', note },
    answerer: BY_COMMAND,
    sessions: ['one'],
    calls: NO_CALLS,
  });
  const [entry] = grants.history;
  assert.deepEqual(
    [entry?.event, entry?.time, entry?.channel, entry?.uid, entry?.note, entry?.path],
    ['denied', '2026-01-01T00:00:00.000Z', 'command', 1000, note, '/home/ana/a'],
  );
  const refused = { question, answer: { says: 'no' }, answerer: BY_COMMAND, sessions: [], calls: NO_CALLS } as const;
  await Promise.all(Array.from({ length: 1_100 }, () => grants.refuse(refused)));
  assert.equal(grants.history.length, 1_000);
});
