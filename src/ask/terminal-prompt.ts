// A question at a terminal, answered with one key. Enter is no. Several keys at once – pasted, held down, an arrow – are no
// answer: nobody says yes by what was typed for something else.

import type { Access } from '../core/access.ts';
import type { Answer, Given, Question } from '../core/question.ts';
import { questionRows, questionTitle } from './question-text.ts';

export interface PromptOptions {
  readonly write: (line: string) => void;
  /** Resolves with what the answer gives; rejects with an error that says why it does not count. */
  readonly answer: (question: Question, answer: Answer) => Promise<Given | null>;
  /** The person wants to stop. */
  readonly onEnd: () => void;
  /** Milliseconds that have passed, by no wall clock. */
  readonly now: () => number;
}

/** Nobody has read a question that stands where another one was taken away, and may still be about to answer that. */
const UNREAD_MS = 1_000;
const MAX_SCOPE_KEYS = 9;
const NO_KEYS: ReadonlySet<string> = new Set(['\r', '\n', '\u001b', 'd', 'n']);
/** Ctrl-C and Ctrl-D: a terminal that gives keys one by one sends no signal. */
const END_KEYS = ['\u0003', '\u0004'] as const;

export class TerminalPrompt {
  readonly #options: PromptOptions;
  /** Shown one at a time: the first is. */
  readonly #questions: Question[] = [];
  #access: Access = 'read-only';
  #isAnswering = false;
  /** Why the question that is being answered is open no more. */
  #overWhy: string | null = null;
  /** What was last taken away from under the person's eyes, and when. */
  #takenAway: { readonly id: string; readonly atMs: number } | null = null;

  constructor(options: PromptOptions) {
    this.#options = options;
  }

  asked(question: Question): void {
    this.#questions.push(question);
    if (this.#questions.length === 1) this.#show();
  }

  withdrawn(id: string, why: string): void {
    const at = this.#questions.findIndex((question) => question.id === id);
    if (at === 0 && this.#isAnswering) this.#overWhy = why;
    else if (at === 0) {
      this.#takenAway = { id, atMs: this.#options.now() };
      this.#done(`Withdrawn: ${why}`);
    } else if (at > 0) this.#questions.splice(at, 1);
  }

  /** None is open any more. */
  clear(why: string): void {
    this.#questions.splice(1);
    const [question] = this.#questions;
    if (question !== undefined) this.withdrawn(question.id, why);
  }

  /** What was typed. */
  async keys(typed: string): Promise<void> {
    const [question] = this.#questions;
    if (typed === 'q' || END_KEYS.some((key) => typed.includes(key))) this.#options.onEnd();
    else if (question !== undefined && !this.#isAnswering) {
      if (this.#isUnread(question)) this.#options.write('Not taken: the question has changed');
      else await this.#key(question, typed);
    }
  }

  /** One that comes back is what the person has read. */
  #isUnread({ id }: Question): boolean {
    const { id: before = id, atMs = 0 } = this.#takenAway ?? {};
    return before !== id && this.#options.now() - atMs < UNREAD_MS;
  }

  async #key(question: Question, key: string): Promise<void> {
    const scope = /^[1-9]$/.test(key) ? question.scopes[Number(key) - 1] : undefined;
    if (NO_KEYS.has(key)) await this.#answer(question, { says: 'no' });
    else if (scope !== undefined) await this.#answer(question, { says: 'yes', scope, access: this.#access });
    else if (key === 's') this.#done('Left to others');
    else if (key === 'r' && question.access === 'read-write') {
      this.#access = this.#access === 'read-write' ? 'read-only' : 'read-write';
      this.#showKeys(question);
    }
  }

  async #answer(question: Question, answer: Answer): Promise<void> {
    this.#isAnswering = true;
    const outcome = await this.#options.answer(question, answer).then(
      (given) => ({ text: given === null ? 'Denied' : `Approved: ${given.access}, ${given.scope}`, counts: true }),
      (error: Error) => ({ text: error.message, counts: false }),
    );
    this.#isAnswering = false;
    const overWhy = this.#overWhy;
    this.#overWhy = null;
    if (outcome.counts) this.#done(outcome.text);
    else if (overWhy !== null) this.#done(`Withdrawn: ${overWhy}`);
    else {
      this.#options.write(outcome.text);
      this.#showKeys(question);
    }
  }

  #done(text: string): void {
    this.#options.write(text);
    this.#questions.shift();
    this.#show();
  }

  #show(): void {
    const { write } = this.#options;
    const [question] = this.#questions;
    if (question === undefined) return;
    this.#access = question.access;
    const more = this.#questions.length - 1;
    write('');
    write(`${questionTitle(question)}${more === 0 ? '' : ` (${more} more wait)`}`);
    for (const [name, value] of questionRows(question)) write(`  ${name.padEnd(10)}  ${value}`);
    write(`  ${'question'.padEnd(10)}  ${question.id}, open until ${question.until}`);
    this.#showKeys(question);
  }

  #showKeys({ scopes, access }: Question): void {
    const yes = scopes.slice(0, MAX_SCOPE_KEYS).map((scope, i) => `[${i + 1}] ${scope}`);
    const other = this.#access === 'read-write' ? 'read-only' : 'read-write';
    const less = access === 'read-write' ? ` · [r] ${other} instead` : '';
    this.#options.write(`[Enter] no · yes, ${this.#access}: ${yes.join('  ')}${less} · [s] not me · [q] quit`);
  }
}
