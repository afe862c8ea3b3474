// A channel whose answers come in by the id of a question.

import { RootsError } from '../core/errors.ts';
import type { Answer, AskChannel, Given, Question, TakeAnswer } from '../core/question.ts';

export abstract class AnsweredById implements AskChannel {
  abstract readonly name: string;
  readonly #presented = new Map<string, { readonly question: Question; readonly take: TakeAnswer }>();

  present(question: Question, take: TakeAnswer): void {
    this.#presented.set(question.id, { question, take });
  }

  withdraw({ id }: Question, _why: string): void {
    this.#presented.delete(id);
  }

  /** Resolves with what the answer gives. Rejects with a RootsError where it does not count. */
  async answer(id: string, answer: Answer, uid: number): Promise<Given | null> {
    const presented = this.#presented.get(id);
    if (presented === undefined) throw new RootsError('CONSENT_UNKNOWN', { what: `question "${id}"` });
    return presented.take(answer, uid);
  }

  /** The oldest first. */
  protected get open(): readonly Question[] {
    return [...this.#presented.values()].map(({ question }) => question);
  }
}
