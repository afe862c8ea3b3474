import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Askpass } from '../../src/ask/askpass.ts';
import { NotifySend } from '../../src/ask/notify-send.ts';
import { Osascript } from '../../src/ask/osascript.ts';
import { type Asking, ProgramChannel } from '../../src/ask/program-channel.ts';
import { runProgram } from '../../src/ask/run-program.ts';
import type { Answer, Question, TakeAnswer } from '../../src/core/question.ts';
import { argumentsOf, standIn } from '../support/asking-program.ts';
import { ASKER, questionOf } from '../support/consents.ts';
import { makeTree, temporaryDirectory } from '../support/tree.ts';

const UID = 1000;

/** A channel, and what comes of a question that it shows: its answer, or why there is none. */
function opened(asking: Asking, uid = UID) {
  let tell: (outcome: unknown) => void = () => {};
  const log = (...[, , fields]: readonly unknown[]) => tell((fields as { readonly error: Error }).error.message);
  const channel = new ProgramChannel(asking, { uid, log, level: 'warn' });
  const answers: (readonly [id: string, answer: Answer, uid: number])[] = [];
  const present = (question: Question) =>
    new Promise<unknown>((resolve) => {
      tell = resolve;
      const take: TakeAnswer = async (answer, by) => {
        answers.push([question.id, answer, by]);
        resolve(answer);
        return null;
      };
      channel.present(question, take, () => hidden.push(question.id));
    });
  const hidden: string[] = [];
  return { channel, answers, present, hidden };
}

function askpass(path: string): Askpass {
  return new Askpass({ path, mustBeTrusted: async () => undefined });
}

/** Programs of these names come first on PATH. */
function onPath(t: TestContext, name: string, deed: string): string {
  const path = standIn(join(temporaryDirectory(t), name), deed);
  const before = process.env.PATH;
  process.env.PATH = `${join(path, '..')}:${before}`;
  t.after(() => {
    process.env.PATH = before;
  });
  return path;
}

describe('Askpass', () => {
  it('gets the question as its only argument, and 0 is yes', async (t) => {
    const path = standIn(
      join(temporaryDirectory(t), 'ask'),
      'test "$SSH_ASKPASS_PROMPT" = confirm && test "$(pwd)" = /',
    );
    const { present, answers } = opened(askpass(path));
    await present(questionOf({ asker: { ...ASKER, server: '--help' } }));
    assert.deepEqual(answers, [['q1', { says: 'yes' }, UID]]);
    const [text = '', ...more] = argumentsOf(path) ?? [];
    assert.deepEqual(more, []);
    assert.match(text, /^rootsd: "--help" \(claimed\) asks for read-write access\n[\s\S]*\npath: \/home\/ana\/a\n/);
  });

  const rows: readonly [end: string, answer: Answer | null][] = [
    ['exit 0', { says: 'yes' }],
    ['exit 1', { says: 'no' }],
    // It could not ask: nobody has said no.
    ['exit 2', null],
    ['exit 127', null],
    ['kill -9 $$', null],
  ];
  for (const [end, answer] of rows) {
    it(`takes "${end}" for ${JSON.stringify(answer)}, and asks the next question`, async (t) => {
      const directory = temporaryDirectory(t);
      const path = standIn(
        join(directory, 'ask'),
        `if test -e ${directory}/second; then exit 0; fi; >${directory}/second; ${end}`,
      );
      const { present, answers } = opened(askpass(path));
      void present(questionOf({ id: 'first' }));
      await present(questionOf({ id: 'second' }));
      const expected = answer === null ? [] : [['first', answer, UID]];
      assert.deepEqual(answers, [...expected, ['second', { says: 'yes' }, UID]]);
    });
  }

  it('is not run where others could have written it, or where it is not there', async (t) => {
    const path = standIn(join(temporaryDirectory(t), 'ask'), 'exit 0');
    const mustBeTrusted = async () => {
      throw new Error('others can write it');
    };
    assert.equal(await opened(new Askpass({ path, mustBeTrusted })).present(questionOf()), 'others can write it');
    assert.equal(argumentsOf(path), null);
    const gone = opened(askpass(`${path}-gone`));
    const failed = gone.present(questionOf());
    assert.equal(gone.channel.shows(questionOf()), true);
    assert.match(String(await failed), /ENOENT/);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([gone.channel.shows(questionOf()), gone.hidden], [false, ['q1']], 'nobody sees it here');
  });

  it('is not run where its question was withdrawn while it was looked at', async (t) => {
    const base = temporaryDirectory(t);
    const path = standIn(join(base, 'ask'), `echo "$1" | tail -n 1 >> '${base}/starts'`);
    const mustBeTrusted = async () => channel.withdraw(questionOf({ id: 'first' }));
    const { channel, present } = opened(new Askpass({ path, mustBeTrusted }));
    void present(questionOf({ id: 'first' }));
    await present(questionOf({ id: 'second' }));
    assert.equal(readFileSync(join(base, 'starts'), 'utf8'), 'question: second\n');
  });

  it('is not shown what only an admin may answer, unless it is one', async (t) => {
    const path = standIn(join(temporaryDirectory(t), 'ask'), 'exit 0');
    const user = opened(askpass(path));
    void user.present(questionOf({ id: 'admin', approver: 'admin' }));
    await user.present(questionOf());
    assert.deepEqual(
      user.answers.map(([id]) => id),
      ['q1'],
    );
    assert.deepEqual(await opened(askpass(path), 0).present(questionOf({ approver: 'admin' })), { says: 'yes' });
  });

  it('is answered by its end, whatever it has left behind, and whatever it has written', async (t) => {
    const base = makeTree(t, ['fifo held']);
    // The child holds the pipe open, and the output of the program with it.
    const path = standIn(
      join(base, 'ask'),
      `(exec 3>'${base}/held'; echo here >&3; exec sleep 1000) & echo $! >'${base}/pid'; seq 100000; exit 0`,
    );
    const held = createReadStream(join(base, 'held'));
    const { present } = opened(askpass(path));
    assert.deepEqual(await present(questionOf()), { says: 'yes' });
    await once(held, 'data');
    held.resume();
    process.kill(Number(readFileSync(join(base, 'pid'), 'utf8')));
    await once(held, 'end');
  });

  it('is killed where it does not take its question back', async (t) => {
    const base = makeTree(t, ['fifo held']);
    const path = standIn(
      join(base, 'ask'),
      `trap '' TERM; exec 3>'${base}/held'; echo shown >&3; while :; do sleep 0.1; done`,
    );
    const { channel, present } = opened(askpass(path));
    const held = createReadStream(join(base, 'held'));
    void present(questionOf());
    await once(held, 'data');
    channel.withdraw(questionOf());
    held.resume();
    await once(held, 'end');
  });

  it('shows one question at a time, and ends, with what it has started, where its question is withdrawn; its status is no answer then', async (t) => {
    const base = makeTree(t, ['fifo held']);
    // Who holds the pipe open is the program and its child.
    const path = standIn(
      join(base, 'ask'),
      `echo . >> '${base}/starts'; exec 3>'${base}/held'; echo shown >&3; sleep 1000; exit 0`,
    );
    const { channel, present, answers } = opened(askpass(path));
    const held = createReadStream(join(base, 'held'));
    void present(questionOf());
    void present(questionOf({ id: 'waits' }));
    await once(held, 'data');
    channel.withdraw(questionOf({ id: 'waits' }));
    channel.withdraw(questionOf());
    held.resume();
    await once(held, 'end');
    assert.equal(readFileSync(join(base, 'starts'), 'utf8'), '.\n');
    assert.deepEqual(answers, []);
  });
});

describe('runProgram()', () => {
  it('keeps as much of the output as an answer has, and reads the rest', async () => {
    const { status, output } = await runProgram({ command: 'seq', args: ['1000000'] }, new AbortController().signal);
    assert.deepEqual([status, output.length, output.slice(0, 6)], [0, 1_024, '1\n2\n3\n']);
  });
});

const HOSTILE = { ...ASKER, server: '<b>fs</b> & \\nroot' };

describe('NotifySend', () => {
  it('shows the question with a button for each answer; nothing in it is markup, an escape or an option', async (t) => {
    const path = onPath(t, 'notify-send', 'echo yes-1');
    const { present, answers } = opened(new NotifySend());
    await present(questionOf({ asker: HOSTILE }));
    assert.deepEqual(answers, [['q1', { says: 'yes', scope: '8h' }, UID]]);
    const given = argumentsOf(path) ?? [];
    assert.deepEqual(
      given.filter((one) => one.startsWith('--action')),
      ['--action=no=No', '--action=yes-0=Yes (session)', '--action=yes-1=Yes (8h)', '--action=yes-2=Yes (always)'],
    );
    const [summary, body = '', ...more] = given.slice(given.indexOf('--') + 1);
    assert.deepEqual([summary, more], ['rootsd: a server asks for access', []]);
    assert.ok(body.startsWith('rootsd: "&lt;b&gt;fs&lt;/b&gt; &amp; \\\\\\\\nroot" (claimed) asks'), body);
  });

  for (const [pressed, answer] of [
    ['no', { says: 'no' }],
    ['', null],
    ['yes-3', null],
    ['yes-0 no', null],
  ] as const) {
    it(`takes "${pressed}" for ${JSON.stringify(answer)}`, () => {
      assert.deepEqual(new NotifySend().readAnswer(questionOf(), { status: 0, output: `${pressed}\n` }), answer);
    });
  }
});

describe('Osascript', () => {
  it('gets the question and the buttons as arguments, never as script', async (t) => {
    const path = onPath(t, 'osascript', 'echo "Yes (session)"');
    const { present, answers } = opened(new Osascript());
    const question = questionOf({ asker: { ...ASKER, server: 'fs" & (do shell script "id") & "' } });
    await present(question);
    assert.deepEqual(answers, [['q1', { says: 'yes', scope: 'session' }, UID]]);
    const given = argumentsOf(path) ?? [];
    const script = given.filter((_one, i) => given[i - 1] === '-e');
    assert.ok(!script.join().includes('id'), script.join());
    const [text = '', ...buttons] = given.slice(given.lastIndexOf('-e') + 2);
    assert.match(text, /^rootsd: "fs\\" & \(do shell script/);
    assert.deepEqual(buttons, ['No', 'Yes (session)', 'Yes (8h)']);
  });

  for (const [pressed, answer] of [
    ['No', { says: 'no' }],
    ['', null],
    ['Yes (always)', null],
  ] as const) {
    it(`takes "${pressed}" for ${JSON.stringify(answer)}`, () => {
      assert.deepEqual(new Osascript().readAnswer(questionOf(), { status: 0, output: `${pressed}\n` }), answer);
    });
  }
});
