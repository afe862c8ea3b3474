// The daemon as an agent at a terminal sees it: it says what is asked, takes answers, and may be gone for a while.

import type { TerminalPrompt } from '../ask/terminal-prompt.ts';
import { refused, unreachable } from '../client/as-roots-error.ts';
import { type Connection, RefusedRequest } from '../client/connection.ts';
import { openControl } from '../client/control.ts';
import type { SearchOptions } from '../client/find-socket.ts';
import { RootsError } from '../core/errors.ts';
import { Latch } from '../core/latch.ts';
import { METHOD } from '../core/protocol.ts';
import type { Answer, Given, Question } from '../core/question.ts';
import type { AnswerReply } from '../daemon/consent-control.ts';

/** Between two looks whether the daemon is back. */
const RETRY_MS = 1_000;

export interface QuestionWatchOptions {
  readonly prompt: Pick<TerminalPrompt, 'asked' | 'withdrawn'>;
  readonly search: SearchOptions;
  readonly isFallback: boolean;
}

export class QuestionWatch {
  readonly #options: QuestionWatchOptions;
  #connection: Connection | null = null;
  #lost = new Latch();
  #isClosed = false;

  constructor(options: QuestionWatchOptions) {
    this.#options = options;
  }

  /** Throws a RootsError DAEMON_UNREACHABLE. */
  async connect(): Promise<void> {
    const lost = new Latch();
    this.#lost = lost;
    this.#connection = await openControl(this.#options.search, {
      onNotification: (method, params) => this.#take(method, params),
      onClose: () => lost.set(),
    });
    if (this.#isClosed) this.close();
  }

  /** From now on the questions come, unless the daemon is lost() meanwhile. Throws a RootsError where this agent is not wanted. */
  async begin(): Promise<void> {
    try {
      await this.#request(METHOD.consentWatch, { fallback: this.#options.isFallback });
    } catch (error) {
      if (!this.#lost.isSet) throw error;
    }
  }

  /** Resolves when the daemon is gone. */
  lost(): Promise<void> {
    return this.#lost.reached;
  }

  /** Resolves when it is back, or nobody waits for it any more. Rejects where it does not want this agent now. */
  async again(): Promise<void> {
    while (!this.#isClosed && !(await this.#isBack())) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
    }
  }

  /** Resolves with what the answer gives. Rejects with a RootsError that says why it does not count. */
  async answer({ id }: Question, { says, ...rest }: Answer): Promise<Given | null> {
    const method = says === 'yes' ? METHOD.consentApprove : METHOD.consentDeny;
    return ((await this.#request(method, { id, ...rest })) as AnswerReply).given;
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
  }

  async #isBack(): Promise<boolean> {
    try {
      await this.connect();
      await this.begin();
      return !this.#lost.isSet;
    } catch (error) {
      if (error instanceof RootsError && error.code === 'DAEMON_UNREACHABLE') return false;
      throw error;
    }
  }

  #take(method: string, params: unknown): void {
    const { prompt } = this.#options;
    if (method === METHOD.consentAsked) prompt.asked((params as { readonly question: Question }).question);
    if (method !== METHOD.consentWithdrawn) return;
    const { id, why } = params as { readonly id: string; readonly why: string };
    prompt.withdrawn(id, why);
  }

  /** A refusal as our own error. */
  async #request(method: string, params: object): Promise<unknown> {
    if (this.#connection === null) throw unreachable('it is not connected');
    try {
      return await this.#connection.request(method, params);
    } catch (error) {
      if (error instanceof RefusedRequest) throw refused(error);
      throw unreachable((error as Error).message, error);
    }
  }
}
