// The questions that are open. Equal ones are one; each is shown by every channel, and the first valid answer counts. A
// question that nobody answers is closed and forgotten; nobody waits for it.

import { keyText } from '../core/consent.ts';
import { RootsError } from '../core/errors.ts';
import { Latch } from '../core/latch.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import {
  type Answer,
  type Answerer,
  type AskChannel,
  type Given,
  type Question,
  readAnswer,
} from '../core/question.ts';
import type { Clock } from '../disk/clock.ts';
import type { Log } from '../system/log.ts';
import type { AnsweredQuestion } from './consent-journal.ts';
import type { Part } from './open-parts.ts';
import { QuestionRate } from './question-rate.ts';

/** What a session asks for. */
export interface Wanted {
  readonly asks: Omit<Question, 'id' | 'since' | 'until'>;
  /** Equal for equal ones; made once for all sessions that are alike. */
  readonly text: string;
}

/** Makes it. */
export function wantedOf(asks: Wanted['asks']): Wanted {
  return { asks, text: `${asks.access} ${keyText(asks.key)}` };
}

export interface OpenQuestion {
  readonly question: Question;
  /** How often it was asked. */
  readonly count: number;
}

export interface QuestionsOptions {
  readonly channels: readonly AskChannel[];
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly record: Log;
  /** An answer that counts; `given` is null for a no. What it throws leaves the question open. */
  readonly onAnswer: (answered: AnsweredQuestion, given: Given | null) => Promise<void>;
  /** Somebody has asked while an answer was taken that is not meant for it: update() is to be called again. */
  readonly onLate: () => void;
}

/** A question that somebody asks. */
export interface Raised {
  readonly question: Question;
  /** It is open no more. */
  readonly closed: Latch;
  /** Nobody sees it: whoever would wait for it need not. It stays open. */
  readonly hidden: Latch;
  /** false: an answer is just being taken, which is not for this session. */
  readonly isJoined: boolean;
}

/** What asks within a session: a call (its number), or its list (null). */
export type AskingPart = number | null;

interface Open {
  readonly question: Question;
  readonly text: string;
  /** Whom the answer is for, and what of each asks. */
  readonly sessions: Map<string, Set<AskingPart>>;
  readonly cancelDeadline: () => void;
  readonly closed: Latch;
  /** Closes when nobody sees it any more; another one where somebody does again. */
  hidden: Latch;
  count: number;
  /** An answer is being taken: what happens to the question meanwhile waits for that. */
  isAnswering: boolean;
  /** Somebody has asked meanwhile. */
  isLate: boolean;
  isOver: boolean;
}

export class Questions implements Part {
  readonly #options: QuestionsOptions;
  readonly #rate = new QuestionRate();
  readonly #open = new Map<string, Open>();
  /** The same by what they are about. */
  readonly #byText = new Map<string, Open>();
  /** What each session has asked: once each. */
  readonly #asked = new Map<string, Set<string>>();
  /** The sessions of which it was said that some of their questions are held back. */
  readonly #warned = new Set<string>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** The oldest first. */
  get open(): readonly OpenQuestion[] {
    return [...this.#open.values()].map(({ question, count }) => ({ question, count }));
  }

  /** A session asks for all of this now: what it has not asked yet is asked, what it no longer asks for is not. */
  update(session: string, wanted: readonly Wanted[]): void {
    const texts = new Set(wanted.map(({ text }) => text));
    const asked = this.#asked.get(session) ?? new Set();
    this.#asked.set(session, asked);
    for (const open of this.#open.values()) {
      if (!open.sessions.has(session) || texts.has(open.text)) continue;
      // Nobody has answered: where it is wanted again, it is asked again.
      if (!open.isAnswering) asked.delete(open.text);
      this.#leave(open, session);
    }
    const heldBack = wanted.filter((one) => {
      if (asked.has(one.text)) return false;
      const isAsked = this.#ask(session, one, null);
      if (isAsked) asked.add(one.text);
      return !isAsked && this.#byText.get(one.text)?.isAnswering !== true;
    });
    const [first] = heldBack;
    if (first === undefined || this.#warned.has(session)) return;
    this.#warned.add(session);
    const fields = { session, server: first.asks.asker.server, count: heldBack.length };
    this.#options.record('warn', LOG_EVENTS.consentHeldBack, fields);
  }

  /** A session asks for this, be it that it has asked before. null: it is too much, and not asked. */
  raise(session: string, wanted: Wanted, part: AskingPart): Raised | null {
    const isJoined = this.#ask(session, wanted, part);
    const open = this.#byText.get(wanted.text);
    if (open === undefined) return null;
    const { question, closed } = open;
    if (!isJoined) return { question, closed, hidden: new Latch(), isJoined };
    const asked = this.#asked.get(session) ?? new Set();
    this.#asked.set(session, asked.add(wanted.text));
    if (!this.#isShown(open)) open.hidden.set();
    else if (open.hidden.isSet) open.hidden = new Latch();
    return { question, closed, hidden: open.hidden, isJoined };
  }

  /** A call of a session asks no more. */
  callEnded(session: string, call: number): void {
    for (const open of this.#open.values()) {
      const parts = open.sessions.get(session);
      if (parts?.delete(call) && parts.size === 0) this.#leave(open, session);
    }
  }

  /** A call waits no more, but its session goes on asking. */
  callGoesOn(session: string, call: number): void {
    for (const { sessions } of this.#open.values()) {
      const parts = sessions.get(session);
      if (parts?.delete(call)) parts.add(null);
    }
  }

  /** Nobody asks any more what this session alone asked. */
  sessionClosed(session: string): void {
    this.#asked.delete(session);
    this.#warned.delete(session);
    for (const open of this.#open.values()) if (open.sessions.has(session)) this.#leave(open, session);
  }

  /**
   * Somebody answers. Resolves with what the answer gives. Rejects with a RootsError where the answer does not count: CONSENT_UNKNOWN for a question that is not
   * open, what readAnswer() throws, and what the answer comes to.
   */
  async answer(id: string, answer: Answer, answerer: Answerer): Promise<Given | null> {
    const open = this.#open.get(id);
    if (open === undefined || open.isAnswering) throw new RootsError('CONSENT_UNKNOWN', { what: `question "${id}"` });
    const { question, sessions } = open;
    const given = readAnswer(question, answer, answerer);
    open.isAnswering = true;
    open.isLate = false;
    try {
      const asking = { sessions: [...sessions.keys()], calls: callsOf(sessions) };
      await this.#options.onAnswer({ question, answer, answerer, ...asking }, given);
      this.#close(open, 'it is answered');
      return given;
    } finally {
      open.isAnswering = false;
      if (open.isOver) this.#withdraw(open, 'nobody has answered in time');
      else if (open.sessions.size === 0) this.#withdraw(open, 'nobody asks any more');
      if (open.isLate) this.#options.onLate();
    }
  }

  close(): void {
    for (const open of this.#open.values()) this.#close(open, 'the daemon ends');
  }

  /** false: not now. There are too many, or an answer is just being taken that may not be meant for this session. */
  #ask(session: string, { asks, text }: Wanted, part: AskingPart): boolean {
    const known = this.#byText.get(text);
    if (known?.isAnswering) {
      known.isLate = true;
      return false;
    }
    if (known !== undefined) {
      known.count += 1;
      const parts = known.sessions.get(session);
      known.sessions.set(session, (parts ?? new Set()).add(part));
      if (parts === undefined) this.#tellAskers(known);
      return true;
    }
    const { clock, newId, timeoutMs, channels, record } = this.#options;
    if (!this.#rate.take(asks.asker.server, clock.now())) return false;
    const sinceMs = clock.epochMs();
    const [since, until] = [sinceMs, sinceMs + timeoutMs].map((ms) => new Date(ms).toISOString()) as [string, string];
    const question: Question = { ...asks, id: newId(), since, until };
    const cancelDeadline = clock.after(timeoutMs, () => {
      open.isOver = true;
      if (!open.isAnswering) this.#withdraw(open, 'nobody has answered in time');
    });
    const [closed, hidden] = [new Latch(), new Latch()];
    const state = { closed, hidden, count: 1, isAnswering: false, isLate: false, isOver: false };
    const open: Open = { question, text, sessions: new Map([[session, new Set([part])]]), cancelDeadline, ...state };
    this.#open.set(question.id, open);
    this.#byText.set(text, open);
    const { id, asker, root, key, access, rule } = question;
    record('info', LOG_EVENTS.consentAsked, { question: id, asker, root, path: key.path, access, rule: rule.id });
    const onHidden = (): void => {
      if (!this.#isShown(open)) open.hidden.set();
    };
    for (const channel of channels) {
      const { name } = channel;
      channel.present(question, (answer, uid) => this.answer(id, answer, { channel: name, uid }), onHidden);
    }
    this.#tellAskers(open);
    return true;
  }

  #isShown({ question }: Open): boolean {
    return this.#options.channels.some((channel) => channel.shows(question));
  }

  #leave(open: Open, session: string): void {
    open.sessions.delete(session);
    if (open.sessions.size > 0) this.#tellAskers(open);
    else if (!open.isAnswering) this.#withdraw(open, 'nobody asks any more');
  }

  #tellAskers({ question, sessions }: Open): void {
    for (const channel of this.#options.channels) channel.askedBy?.(question, new Set(sessions.keys()));
  }

  #withdraw(open: Open, why: string): void {
    if (!this.#open.has(open.question.id)) return;
    this.#options.record('info', LOG_EVENTS.consentWithdrawn, { question: open.question.id, why });
    this.#close(open, why);
  }

  #close(open: Open, why: string): void {
    if (!this.#open.delete(open.question.id)) return;
    this.#byText.delete(open.text);
    open.cancelDeadline();
    open.closed.set();
    for (const channel of this.#options.channels) channel.withdraw(open.question, why);
  }
}

/** Those that wait, of the sessions that ask by calls. */
function callsOf(sessions: Open['sessions']): AnsweredQuestion['calls'] {
  const calls = [...sessions].map(([session, parts]) => [session, [...parts].filter((part) => part !== null)] as const);
  return new Map(calls.filter(([, numbers]) => numbers.length > 0));
}
