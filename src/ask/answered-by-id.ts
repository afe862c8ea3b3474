// A channel whose answers come in by the id of a question.

import { RootsError } from '../core/errors.ts';
import type { Answer, AskChannel, Given, Question, TakeAnswer } from '../core/question.ts';

/** Of questions that are over it is remembered why, for who answers late. */
const MAX_OVER = 1_000;

interface Presented {
  readonly question: Question;
  readonly take: TakeAnswer;
  readonly hidden: () => void;
}

export abstract class AnsweredById implements AskChannel {
  abstract readonly name: string;
  readonly #presented = new Map<string, Presented>();
  readonly #over = new Map<string, string>();

  present(question: Question, take: TakeAnswer, hidden: () => void): void {
    this.#presented.set(question.id, { question, take, hidden });
  }

  abstract shows(question: Question): boolean;

  withdraw({ id }: Question, why: string): void {
    this.#presented.delete(id);
    this.#over.set(id, why);
    const [oldest] = this.#over.keys();
    if (this.#over.size > MAX_OVER && oldest !== undefined) this.#over.delete(oldest);
  }

  /** Resolves with what the answer gives. Rejects with a RootsError where it does not count. */
  async answer(id: string, answer: Answer, uid: number): Promise<Given | null> {
    return this.mustBeOpen(id).take(answer, uid);
  }

  /** Throws a RootsError CONSENT_UNKNOWN, and why it is over, where it is. */
  mustBeOpen(id: string): Pick<Presented, 'question' | 'take'> {
    const presented = this.#presented.get(id);
    if (presented !== undefined) return presented;
    const why = this.#over.get(id);
    const more = why === undefined ? {} : { hint: `This one is over: ${why}` };
    throw new RootsError('CONSENT_UNKNOWN', { what: `question "${id}"` }, more);
  }

  /** Of those that were seen and are not now, says so. */
  protected hide(questions: readonly Question[]): void {
    for (const question of questions) if (!this.shows(question)) this.#presented.get(question.id)?.hidden();
  }

  /** The oldest first. */
  protected get open(): readonly Question[] {
    return [...this.#presented.values()].map(({ question }) => question);
  }
}
