// The plainest way to reach a person: `rootsd consent list` shows what is asked, `approve` and `deny` answer it. It is there
// even when no other channel is.

import { RootsError } from '../core/errors.ts';
import type { Answer, AskChannel, Given, Question, TakeAnswer } from '../core/question.ts';

export class CommandLine implements AskChannel {
  readonly name = 'command';
  readonly #presented = new Map<string, TakeAnswer>();

  present({ id }: Question, take: TakeAnswer): void {
    this.#presented.set(id, take);
  }

  withdraw({ id }: Question): void {
    this.#presented.delete(id);
  }

  /** Somebody has typed an answer. Resolves with what it gives. Rejects with a RootsError where it does not count. */
  async answer(id: string, answer: Answer, uid: number): Promise<Given | null> {
    const take = this.#presented.get(id);
    if (take === undefined) throw new RootsError('CONSENT_UNKNOWN', { what: `question "${id}"` });
    return take(answer, uid);
  }
}
