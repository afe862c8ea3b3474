// A program of the user's choice that asks, as ssh-askpass does: the question is its only argument, and exit status 0 is yes.

import type { Answer, Question } from '../core/question.ts';
import type { Asking } from './program-channel.ts';
import { questionText } from './question-text.ts';
import type { Program, ProgramEnd } from './run-program.ts';

export interface AskpassOptions {
  readonly path: string;
  /** Rejects with why it must not be run: others can write it. Asked each time. */
  readonly mustBeTrusted: () => Promise<void>;
}

/** The exit status by which such programs say that they were cancelled, or that "no" was chosen. */
const SAYS_NO = 1;

export class Askpass implements Asking {
  readonly name = 'askpass';
  readonly #options: AskpassOptions;

  constructor(options: AskpassOptions) {
    this.#options = options;
  }

  async programFor(question: Question): Promise<Program> {
    const { path, mustBeTrusted } = this.#options;
    await mustBeTrusted();
    // OpenSSH's own way to say that no password is wanted, but a yes or a no.
    const env = { SSH_ASKPASS_PROMPT: 'confirm' };
    return { command: path, args: [questionText(question)], env, ignoresOutput: true };
  }

  /** A yes gives the scope that ends first: there is nothing to choose. One that has crashed has not said no. */
  readAnswer(_question: Question, { status }: ProgramEnd): Answer | null {
    if (status === 0) return { says: 'yes' };
    return status === SAYS_NO ? { says: 'no' } : null;
  }
}
