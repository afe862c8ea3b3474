import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TerminalPrompt } from '../../src/ask/terminal-prompt.ts';
import type { Answer, Given } from '../../src/core/question.ts';
import { questionOf } from '../support/consents.ts';

function opened(answer: (answer: Answer) => Promise<Given | null> = async () => null) {
  const lines: string[] = [];
  const answers: (readonly [id: string, answer: Answer])[] = [];
  const ends: true[] = [];
  const clock = { nowMs: 0 };
  const prompt = new TerminalPrompt({
    write: (line) => lines.push(line),
    answer: ({ id }, given) => {
      answers.push([id, given]);
      return answer(given);
    },
    onEnd: () => ends.push(true),
    now: () => clock.nowMs,
  });
  return { prompt, lines, answers, ends, clock };
}

describe('TerminalPrompt', () => {
  const rows: readonly [key: string, answer: Answer | null][] = [
    // No is what a person says without reading.
    ['\r', { says: 'no' }],
    ['\n', { says: 'no' }],
    ['\u001b', { says: 'no' }],
    ['d', { says: 'no' }],
    ['1', { says: 'yes', scope: 'session', access: 'read-write' }],
    ['3', { says: 'yes', scope: 'always', access: 'read-write' }],
    // There is no such scope.
    ['4', null],
    ['0', null],
    ['y', null],
    [' ', null],
    // Nobody says yes by what was meant for something else.
    ['11', null],
    ['1\r', null],
    ['\u001b[A', null],
    ['', null],
  ];
  for (const [key, answer] of rows) {
    it(`takes ${JSON.stringify(key)} for ${JSON.stringify(answer)}`, async () => {
      const { prompt, answers } = opened();
      prompt.asked(questionOf());
      await prompt.keys(key);
      assert.deepEqual(answers, answer === null ? [] : [['q1', answer]]);
    });
  }

  it('lets less be chosen, and the choice holds for that question alone', async () => {
    const { prompt, answers } = opened();
    for (const id of ['q1', 'q2']) prompt.asked(questionOf({ id }));
    for (const key of ['r', '1', '1']) await prompt.keys(key);
    assert.deepEqual(
      answers.map(([id, { access }]) => [id, access]),
      [
        ['q1', 'read-only'],
        ['q2', 'read-write'],
      ],
    );
  });

  it('shows one question after the other, and says how many wait', async () => {
    const { prompt, lines } = opened();
    prompt.asked(questionOf());
    prompt.asked(questionOf({ id: 'q2' }));
    prompt.asked(questionOf({ id: 'q3' }));
    prompt.withdrawn('q2', 'it is answered');
    await prompt.keys('s');
    assert.match(lines.join('\n'), /q1, open until[\s\S]*Left to others[\s\S]*q3, open until/);
    assert.doesNotMatch(lines.join('\n'), /q2/);
  });

  it('takes no key for a question that is not shown yet', async () => {
    const { prompt, answers } = opened();
    await prompt.keys('1');
    prompt.asked(questionOf());
    assert.deepEqual(answers, []);
  });

  it('goes on with the next one where a question is withdrawn, and takes no second key while it answers', async () => {
    let release: (given: Given) => void = () => {};
    const { prompt, answers, lines } = opened(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    for (const id of ['q1', 'q2']) prompt.asked(questionOf({ id }));
    const answering = prompt.keys('1');
    await prompt.keys('1');
    // The daemon tells all that it is answered, also who has answered it.
    prompt.withdrawn('q1', 'it is answered');
    release({ scope: 'session', access: 'read-write' });
    await answering;
    assert.equal(answers.length, 1);
    assert.ok(lines.includes('Approved: read-write, session'));
    assert.ok(!lines.some((line) => line.startsWith('Withdrawn')));
    prompt.withdrawn('q2', 'nobody asks any more');
    assert.equal(lines.at(-1), 'Withdrawn: nobody asks any more');
  });

  it('takes no key that was meant for a question that has just been taken away', async () => {
    const { prompt, answers, lines, clock } = opened();
    for (const id of ['q1', 'q2']) prompt.asked(questionOf({ id }));
    prompt.withdrawn('q1', 'nobody asks any more');
    clock.nowMs += 999;
    await prompt.keys('1');
    assert.deepEqual([answers, lines.at(-1)], [[], 'Not taken: the question has changed']);
    clock.nowMs += 1;
    await prompt.keys('1');
    assert.deepEqual(
      answers.map(([id]) => id),
      ['q2'],
    );
  });

  it('takes a key for a question that was taken away and is back', async () => {
    const { prompt, answers } = opened();
    prompt.asked(questionOf());
    prompt.withdrawn('q1', 'another agent asks now');
    prompt.asked(questionOf());
    await prompt.keys('1');
    assert.deepEqual(
      answers.map(([id]) => id),
      ['q1'],
    );
  });

  it('says why an answer does not count, and asks on unless the question is over', async () => {
    const { prompt, answers, lines } = opened(async () => {
      if (answers.length === 2) prompt.withdrawn('q1', 'nobody asks any more');
      throw new Error('Cannot take this answer');
    });
    prompt.asked(questionOf());
    await prompt.keys('1');
    assert.deepEqual([lines.at(-2), /no · yes/.test(lines.at(-1) ?? '')], ['Cannot take this answer', true]);
    await prompt.keys('1');
    assert.equal(lines.at(-1), 'Withdrawn: nobody asks any more');
    await prompt.keys('1');
    assert.equal(answers.length, 2);
  });

  for (const key of ['q', '\u0003', '\u0004', 'x\u0003']) {
    it(`ends at ${JSON.stringify(key)} without an answer`, async () => {
      const { prompt, answers, ends } = opened();
      prompt.asked(questionOf());
      await prompt.keys(key);
      assert.deepEqual([answers, ends.length], [[], 1]);
    });
  }
});
