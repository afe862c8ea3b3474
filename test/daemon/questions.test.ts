import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { CommandLine } from '../../src/ask/command-line.ts';
import { RootsError } from '../../src/core/errors.ts';
import type { AskChannel, Question, TakeAnswer } from '../../src/core/question.ts';
import type { AnsweredQuestion } from '../../src/daemon/consent-journal.ts';
import { QuestionRate } from '../../src/daemon/question-rate.ts';
import { Questions, type Wanted, wantedOf } from '../../src/daemon/questions.ts';
import { FakeClock } from '../support/clock.ts';
import { ASKER, HOUR_MS, keyOf, MINUTE_MS, questionOf } from '../support/consents.ts';

const YES = { says: 'yes' } as const;

/** A channel that remembers what it shows. */
class FakeChannel implements AskChannel {
  readonly name = 'fake';
  readonly shown = new Map<string, TakeAnswer>();
  readonly withdrawn: string[] = [];
  readonly askers = new Map<string, readonly string[]>();

  askedBy({ id }: Question, sessions: ReadonlySet<string>): void {
    assert.ok(this.shown.has(id));
    this.askers.set(id, [...sessions]);
  }

  present({ id }: Question, take: TakeAnswer): void {
    this.shown.set(id, take);
  }

  shows({ id }: Question): boolean {
    return this.shown.has(id);
  }

  withdraw({ id }: Question): void {
    this.shown.delete(id);
    this.withdrawn.push(id);
  }
}

function opened(onAnswer: (answered: AnsweredQuestion) => Promise<void> = async () => undefined) {
  const clock = new FakeClock();
  const [channel, commandLine] = [new FakeChannel(), new CommandLine()];
  const answered: AnsweredQuestion[] = [];
  const events: string[] = [];
  const late = { count: 0 };
  let ids = 0;
  const questions = new Questions({
    channels: [channel, commandLine],
    timeoutMs: MINUTE_MS,
    clock,
    newId: () => {
      ids += 1;
      return `q${ids}`;
    },
    record: (_level, event) => events.push(event),
    onAnswer: async (one) => {
      answered.push(one);
      await onAnswer(one);
    },
    onLate: () => {
      late.count += 1;
    },
  });
  return { questions, clock, channel, commandLine, answered, events, late };
}

function wanted(path: string, server = 's'): Wanted {
  const { id, since, until, ...rest } = questionOf({ key: keyOf({ path }), asker: { ...ASKER, server } });
  return wantedOf(rest);
}

describe('Questions', () => {
  it('shows one question for equal requests, in every channel, and counts', () => {
    const { questions, channel } = opened();
    for (const session of ['one', 'two', 'three']) questions.update(session, [wanted('/a')]);
    assert.deepEqual(
      questions.open.map(({ question, count }) => [question.id, count]),
      [['q1', 3]],
    );
    assert.deepEqual([...channel.shown.keys()], ['q1']);
  });

  it('says who asks, whenever it is somebody else', () => {
    const { questions, channel } = opened();
    const askers = () => channel.askers.get('q1');
    questions.update('one', [wanted('/a')]);
    assert.deepEqual(askers(), ['one']);
    questions.update('two', [wanted('/a')]);
    assert.deepEqual(askers(), ['one', 'two']);
    questions.update('one', []);
    assert.deepEqual(askers(), ['two']);
  });

  it('asks for each root once a session', () => {
    const { questions, channel } = opened();
    questions.update('one', [wanted('/a')]);
    questions.update('one', [wanted('/a'), wanted('/b')]);
    assert.deepEqual([...channel.shown.keys()], ['q1', 'q2']);
    assert.deepEqual(
      questions.open.map(({ count }) => count),
      [1, 1],
    );
  });

  it('gives the answer to all who ask, under the name of the channel, and withdraws the question everywhere', async () => {
    const { questions, channel, answered, commandLine } = opened();
    questions.update('one', [wanted('/a')]);
    questions.update('two', [wanted('/a')]);
    assert.deepEqual(await channel.shown.get('q1')?.(YES, 7), { scope: 'session', access: 'read-write' });
    assert.deepEqual([answered[0]?.sessions, answered[0]?.answerer], [['one', 'two'], { channel: 'fake', uid: 7 }]);
    assert.deepEqual([channel.withdrawn, questions.open], [['q1'], []]);
    await assert.rejects(commandLine.answer('q1', YES, 7), { code: 'CONSENT_UNKNOWN' });
  });

  it('takes the first valid answer: one that is not leaves the question open, and no second one counts', async () => {
    let release = () => {};
    const { questions, commandLine, channel, answered } = opened(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    questions.update('one', [wanted('/a')]);
    await assert.rejects(commandLine.answer('q1', { says: 'yes', scope: '24h' }, 7), { code: 'CONSENT_ANSWER' });
    const first = commandLine.answer('q1', YES, 7);
    await assert.rejects(channel.shown.get('q1')?.(YES, 7) ?? assert.fail(), { code: 'CONSENT_UNKNOWN' });
    release();
    assert.ok(await first);
    assert.equal(answered.length, 1);
  });

  it('leaves a question open whose answer could not be kept, also for who has asked meanwhile', async () => {
    const { questions, commandLine, late } = opened(async () => {
      throw new RootsError('CONSENT_NOT_KEPT');
    });
    questions.update('one', [wanted('/a')]);
    const answering = commandLine.answer('q1', YES, 7);
    questions.update('two', [wanted('/a')]);
    await assert.rejects(answering, { code: 'CONSENT_NOT_KEPT' });
    questions.update('two', [wanted('/a')]);
    assert.deepEqual(
      questions.open.map(({ count }) => count),
      [2],
    );
    await assert.rejects(commandLine.answer('q1', YES, 7), { code: 'CONSENT_NOT_KEPT' });
    assert.equal(late.count, 1);
  });

  it('does not withdraw what is being answered, nor lets others join it', async () => {
    let release = () => {};
    const { questions, commandLine, events, clock, late } = opened(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    questions.update('one', [wanted('/a')]);
    const answering = commandLine.answer('q1', YES, 7);
    questions.update('two', [wanted('/a')]);
    questions.update('one', []);
    await clock.advance(MINUTE_MS);
    assert.equal(events.includes('consent question withdrawn'), false);
    release();
    await answering;
    assert.equal(questions.open.length, 0);
    assert.deepEqual(events, ['consent asked']);
    assert.equal(late.count, 1, 'whoever came too late is looked at again');
    questions.update('two', [wanted('/a')]);
    assert.deepEqual(
      questions.open.map(({ question }) => question.id),
      ['q2'],
      'whoever came too late asks anew',
    );
    const second = commandLine.answer('q2', YES, 7);
    release();
    await second;
    assert.equal(late.count, 1, 'nobody did this time');
    questions.update('one', [wanted('/a')]);
    assert.deepEqual(questions.open, [], 'and the one that was answered does not');
  });

  for (const [what, happens] of [
    ['its time is over', (_questions, clock) => clock.advance(MINUTE_MS)],
    ['its session ends', async (questions) => questions.sessionClosed('one')],
  ] as readonly [string, (questions: Questions, clock: FakeClock) => Promise<void>][]) {
    it(`withdraws what was not answered after all when ${what} meanwhile`, async () => {
      let fail = () => {};
      const { questions, commandLine, clock } = opened(
        () =>
          new Promise((_, reject) => {
            fail = () => reject(new RootsError('CONSENT_NOT_KEPT'));
          }),
      );
      questions.update('one', [wanted('/a')]);
      const answering = commandLine.answer('q1', YES, 7);
      await happens(questions, clock);
      assert.equal(questions.open.length, 1);
      fail();
      await assert.rejects(answering, { code: 'CONSENT_NOT_KEPT' });
      assert.deepEqual(questions.open, []);
    });
  }

  it('closes what nobody answers in time, and asks again for the next session alone', async () => {
    const { questions, clock, channel, answered } = opened();
    questions.update('one', [wanted('/a')]);
    await clock.advance(MINUTE_MS - 1);
    assert.equal(questions.open.length, 1);
    await clock.advance(1);
    assert.deepEqual([questions.open, channel.withdrawn, answered], [[], ['q1'], []]);
    questions.update('one', [wanted('/a')]);
    assert.equal(questions.open.length, 0);
    questions.update('two', [wanted('/a')]);
    assert.equal(questions.open.length, 1);
  });

  it('withdraws what nobody asks any more: the session is gone, or may have it, or may not', () => {
    const { questions, channel } = opened();
    questions.update('one', [wanted('/a'), wanted('/b')]);
    questions.update('two', [wanted('/a')]);
    questions.sessionClosed('two');
    assert.equal(questions.open.length, 2);
    questions.update('one', [wanted('/b')]);
    assert.deepEqual(channel.withdrawn, ['q1']);
    questions.sessionClosed('one');
    assert.deepEqual(channel.withdrawn, ['q1', 'q2']);
  });

  it('asks again in a session for what was withdrawn before anybody could answer, and not for what was answered', async () => {
    const { questions, commandLine } = opened();
    const asked = () => questions.open.map(({ question }) => question.id);
    questions.update('one', [wanted('/a')]);
    questions.update('one', []);
    questions.update('one', [wanted('/a')]);
    assert.deepEqual(asked(), ['q2']);
    await commandLine.answer('q2', { says: 'no' }, 7);
    questions.update('one', []);
    questions.update('one', [wanted('/a')]);
    assert.deepEqual(asked(), []);
  });

  it('forgets what a session has asked, and that this was too much, when it ends', () => {
    const { questions, events } = opened();
    for (const id of ['q1', 'q2']) {
      questions.update('one', [wanted('/a')]);
      assert.deepEqual(
        questions.open.map(({ question }) => question.id),
        [id],
      );
      questions.sessionClosed('one');
    }
    const many = Array.from({ length: 65 }, (_, i) => wanted(`/${i}`));
    for (const turn of [1, 2]) {
      questions.update('one', many);
      assert.equal(events.filter((event) => event === 'consent question held back').length, turn);
      questions.sessionClosed('one');
    }
  });

  it('leaves no timer of a question that is over', async () => {
    const { questions, commandLine, clock, events } = opened();
    questions.update('one', [wanted('/a')]);
    await commandLine.answer('q1', YES, 7);
    assert.equal(clock.pending, 0);
    assert.deepEqual(events, ['consent asked']);
  });

  it('holds back what is too much, and asks that when there is room again', async () => {
    const { questions, clock, events } = opened();
    const many = Array.from({ length: 70 }, (_, i) => wanted(`/${i}`));
    questions.update('one', many);
    assert.equal(questions.open.length, 64);
    questions.update('one', many);
    assert.equal(events.filter((event) => event === 'consent question held back').length, 1, 'said once');
    await clock.advance(HOUR_MS);
    questions.update('one', many);
    assert.equal(questions.open.length, 6);
  });
});

test('QuestionRate bounds each server and all of them, whatever they call themselves', () => {
  const rate = new QuestionRate();
  const taken = (server: (i: number) => string | null, nowMs: number) =>
    Array.from({ length: 2_000 }, (_, i) => rate.take(server(i), nowMs)).filter(Boolean).length;
  assert.equal(
    taken(() => 's', 0),
    64,
  );
  assert.equal(
    taken((i) => `name-${i}`, 0),
    256 - 64,
  );
  assert.equal(
    taken(() => null, 0),
    0,
  );
  assert.equal(
    taken(() => 's', MINUTE_MS),
    1,
  );
  assert.equal(
    taken((i) => `name-${i}`, MINUTE_MS),
    5,
  );
  assert.equal(
    taken(() => 's', 24 * HOUR_MS),
    64,
  );
});
