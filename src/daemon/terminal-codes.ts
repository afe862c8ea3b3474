// An answer that may be an MCP server's is asked again at the controlling terminal of whoever gave it: the daemon shows a code
// there, with the question, and who types it has seen both. A hurdle, not a wall (docs/consent.md).

import { questionText } from '../ask/question-text.ts';
import type { Observed } from '../core/peer.ts';
import type { Answer, Question } from '../core/question.ts';
import { Quota } from '../core/quota.ts';
import type { Clock } from '../disk/clock.ts';
import type { Launchers } from './person-behind.ts';

export interface TerminalCodesOptions {
  readonly clock: Clock;
  readonly newCode: () => string;
  /** The session of a caller at whose terminal a person sits; null: it has none. */
  readonly sessionOf: (observed: Observed | null, launchers: Launchers) => number | null;
  /** Writes to the terminal of the session that this process leads; false: it cannot. */
  readonly write: (leader: number, text: string) => boolean;
}

/** What somebody wants to answer. */
export interface DoubtedAnswer {
  readonly question: Question;
  readonly answer: Answer;
  readonly observed: Observed | null;
  readonly launchers: Launchers;
}

/** A code counts for one answer, from the session that it was shown to. */
interface Shown {
  readonly code: string;
  readonly text: string;
  readonly session: number;
  attempts: number;
  readonly cancel: () => void;
}

const MAX_ATTEMPTS = 3;
const CODE_MS = 120_000;
/** So often a terminal is written to, whoever wants it. */
const WRITES = { limit: 5, windowMs: 60_000 };

export class TerminalCodes {
  readonly #options: TerminalCodesOptions;
  readonly #writes = new Quota(WRITES.limit, WRITES.windowMs);
  /** By the question: one at a time. */
  readonly #shown = new Map<string, Shown>();

  constructor(options: TerminalCodesOptions) {
    this.#options = options;
  }

  /** Shows question, answer and code at the caller's terminal; false: there is none at which a person must sit. */
  show({ question, answer, observed, launchers }: DoubtedAnswer): boolean {
    const { clock, newCode, sessionOf, write } = this.#options;
    const session = sessionOf(observed, launchers);
    if (session === null || this.#writes.take(clock.now()) === null) return false;
    const code = newCode();
    if (!write(session, messageFor(question, answer, code))) return false;
    this.#forget(question.id);
    const cancel = clock.after(CODE_MS, () => this.#shown.delete(question.id));
    this.#shown.set(question.id, { code, text: textOf(answer), session, attempts: 0, cancel });
    return true;
  }

  /** Was this code shown for this very answer, where this caller comes from? It counts once. */
  take({ question, answer, observed, launchers }: DoubtedAnswer, code: string): boolean {
    const shown = this.#shown.get(question.id);
    if (shown === undefined) return false;
    shown.attempts += 1;
    const session = this.#options.sessionOf(observed, launchers);
    const isIt = shown.code === code && shown.text === textOf(answer) && shown.session === session;
    if (isIt || shown.attempts >= MAX_ATTEMPTS) this.#forget(question.id);
    return isIt;
  }

  #forget(id: string): void {
    this.#shown.get(id)?.cancel();
    this.#shown.delete(id);
  }
}

function textOf({ says, scope, access, note }: Answer): string {
  return JSON.stringify([says, scope, access, note]);
}

function messageFor(question: Question, { says, scope, access }: Answer, code: string): string {
  const given = [scope ?? question.scopes[0], access ?? question.access].join(', ');
  const what = says === 'yes' ? `yes (${given})` : 'no';
  return [
    '',
    questionText(question),
    `A program that an MCP server may have started answers: ${what}.`,
    `If that is your answer, type this code where you are asked for it: ${code}`,
    '',
  ].join('\n');
}
