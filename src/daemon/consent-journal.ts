// What became of consents: the history that is kept with them, and the lines of the log and the audit.

import { type ConsentEntry, type ConsentEvent, MAX_HISTORY } from '../core/consent-record.ts';
import type { Grant } from '../core/grant.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Answer, Answerer, Given, Question } from '../core/question.ts';
import { runInSlices } from '../disk/slices.ts';
import type { Log } from '../system/log.ts';
import type { Part } from './open-parts.ts';

/** An answer, and whose question it is. */
export interface AnsweredQuestion {
  readonly question: Question;
  readonly answer: Answer;
  readonly answerer: Answerer;
  /** Ids of the sessions that ask … */
  readonly sessions: readonly string[];
  /** … and of each the numbers of the calls that wait for the answer. */
  readonly calls: ReadonlyMap<string, readonly number[]>;
}

/** Whom and what an entry is about. */
type About = Pick<Grant, 'key' | 'asker' | 'root'>;

/** What an entry says beside whom and what it is about. */
type Said = Pick<ConsentEntry, 'id' | 'scope' | 'access'> & {
  readonly answerer: Answerer | null;
  readonly answer?: Answer;
};

export interface ConsentJournalOptions {
  readonly history: readonly ConsentEntry[];
  readonly record: Log;
  /** ms since the epoch */
  readonly now: () => number;
}

export class ConsentJournal implements Part {
  readonly #record: Log;
  readonly #now: () => number;
  #history: readonly ConsentEntry[];
  /** Lines that are still to be written. */
  readonly #lines = new Set<() => void>();
  #isWriting = false;
  #written: Promise<void> = Promise.resolve();

  constructor({ history, record, now }: ConsentJournalOptions) {
    this.#history = history;
    this.#record = record;
    this.#now = now;
  }

  /** The oldest first. */
  get history(): readonly ConsentEntry[] {
    return this.#history;
  }

  /** Enters one thing in the history. */
  note(event: ConsentEvent, about: About, said: Said): void {
    this.#enter([entryOf(event, about, said, this.wallTime())]);
  }

  /** What was noted of these never came to be. */
  strike(grants: readonly Grant[]): void {
    this.#history = this.#history.filter(({ id }) => !grants.some((grant) => grant.id === id));
  }

  /** Writes a line for an answer. */
  answered(how: 'approved' | 'denied', { question, answerer, answer }: AnsweredQuestion, given: Given | null): void {
    const { id, asker, root, key } = question;
    const fields = { question: id, how, server: asker.server, root, path: key.path, rule: key.rule, by: answerer };
    this.#record('info', LOG_EVENTS.consentAnswered, { ...fields, ...given, note: answer.note });
  }

  /** Enters the end of each in the history, and writes a line for it: thousands may end at once, so that takes its time. */
  ended(grants: readonly Grant[], how: ConsentEvent, answerer: Answerer | null): void {
    const to = this.wallTime();
    this.#enter(grants.map((grant) => entryOf(how, grant, { ...grant, answerer }, to)));
    for (const { id, asker, root, key, access, given } of grants) {
      const exposed = { from: new Date(given.wallMs).toISOString(), to };
      const fields = { grant: id, how, server: asker.server, root, path: key.path, access, exposed, by: answerer };
      this.#lines.add(() => this.#record('info', LOG_EVENTS.consentEnded, fields));
    }
    if (!this.#isWriting) this.#written = this.#write();
  }

  /** Resolves when there is no line to write. */
  written(): Promise<void> {
    return this.#written;
  }

  /** RFC 3339 */
  wallTime(): string {
    return new Date(this.#now()).toISOString();
  }

  /** Writes what is still to be written. */
  close(): void {
    for (const _step of this.#writeInSteps());
  }

  #enter(entries: readonly ConsentEntry[]): void {
    this.#history = [...this.#history, ...entries].slice(-MAX_HISTORY);
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#lines.size > 0) await runInSlices(this.#writeInSteps(), () => false);
    this.#isWriting = false;
  }

  *#writeInSteps(): Generator<void> {
    for (const write of this.#lines) {
      this.#lines.delete(write);
      write();
      yield;
    }
  }
}

function entryOf(event: ConsentEvent, { key, asker, root }: About, said: Said, time: string): ConsentEntry {
  const { id, scope, access, answerer, answer } = said;
  const who = { channel: answerer?.channel ?? null, uid: answerer?.uid ?? null, note: answer?.note ?? null };
  return { time, event, id, asker, root, path: key.path, access, rule: key.rule, scope, ...who };
}
