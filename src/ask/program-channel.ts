// Programs that ask a person, one question at a time: a heap of dialogs is answered without being read. What is asked meanwhile
// waits for its turn, and can be answered by other channels.

import { LOG_EVENTS, type LogLevel } from '../core/log-event.ts';
import type { Answer, AskChannel, Question, TakeAnswer } from '../core/question.ts';
import type { Log } from '../system/log.ts';
import { type Program, type ProgramEnd, runProgram } from './run-program.ts';

/** A kind of program that asks. */
export interface Asking {
  readonly name: string;
  /** Rejects with why it cannot be asked. */
  programFor(question: Question): Promise<Program>;
  /** null: no answer. The question stays open for others, and its deadline is a no. */
  readAnswer(question: Question, end: ProgramEnd): Answer | null;
}

export interface ProgramChannelOptions {
  /** Who answers: whose screen it is. */
  readonly uid: number;
  readonly log: Log;
  /** How much it counts that a question cannot be shown. */
  readonly level: LogLevel;
}

interface Presented {
  readonly question: Question;
  readonly take: TakeAnswer;
  readonly hidden: () => void;
}

const ADMIN_UID = 0;

export class ProgramChannel implements AskChannel {
  readonly name: string;
  readonly #asking: Asking;
  readonly #options: ProgramChannelOptions;
  readonly #waiting: Presented[] = [];
  #shown: { readonly id: string; readonly stop: AbortController } | null = null;

  constructor(asking: Asking, options: ProgramChannelOptions) {
    this.name = asking.name;
    this.#asking = asking;
    this.#options = options;
  }

  present(question: Question, take: TakeAnswer, hidden: () => void): void {
    if (question.approver === 'admin' && this.#options.uid !== ADMIN_UID) return;
    this.#waiting.push({ question, take, hidden });
    this.#next();
  }

  shows({ id }: Question): boolean {
    return this.#shown?.id === id || this.#waiting.some(({ question }) => question.id === id);
  }

  withdraw({ id }: Question): void {
    const at = this.#waiting.findIndex(({ question }) => question.id === id);
    if (at >= 0) this.#waiting.splice(at, 1);
    if (this.#shown?.id === id) this.#shown.stop.abort();
  }

  #next(): void {
    if (this.#shown !== null) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    const stop = new AbortController();
    this.#shown = { id: next.question.id, stop };
    void this.#ask(next, stop.signal).finally(() => {
      this.#shown = null;
      next.hidden();
      this.#next();
    });
  }

  async #ask({ question, take }: Presented, signal: AbortSignal): Promise<void> {
    const { uid, log, level } = this.#options;
    try {
      const end = await runProgram(await this.#asking.programFor(question), signal);
      const answer = this.#asking.readAnswer(question, end);
      if (answer !== null && !signal.aborted) await take(answer, uid);
    } catch (error) {
      if (!signal.aborted) log(level, LOG_EVENTS.consentNotShown, { channel: this.name, question: question.id, error });
    }
  }
}
