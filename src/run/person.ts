// The person at the host, asked for their consent in its own window, and none again that they have left to others. What they
// say goes to the daemon, which knows whether it counts.
//
// A host of the legacy era is sent requests, one at a time. One of the modern era is asked within the results of calls that wait
// for the answer (waiting-calls.ts).

import type { HostAnswer, HostQuestion } from '../core/protocol.ts';
import { CANCELLED } from './cancelled.ts';
import { ELICIT, elicitationOf, readElicited } from './elicitation.ts';
import type { LineWriter } from './line-writer.ts';
import type { OwnRequests, Reply } from './own-requests.ts';

/** The daemon closes a question in time; this is for one that hangs. */
const GRACE_MS = 5_000;
const MAX_DEADLINE_MS = 24 * 3_600_000;

export interface PersonOptions {
  readonly host: LineWriter;
  /** Our requests to the host. */
  readonly own: OwnRequests;
  readonly answer: (answer: HostAnswer) => void;
  /** They are asked nothing by us now. */
  readonly onIdle: () => void;
}

export class Person {
  readonly #options: PersonOptions;
  /** May the host be sent requests of ours, and can it show them? */
  #isReachable = false;
  #open: readonly HostQuestion[] = [];
  /** Of those, the ones that have been asked, or left to others. */
  #asked = new Set<string>();
  /** Of those, the ones that a call waits for: they come first. */
  #awaited = new Set<string>();
  /** The request that they are shown; `requestId`: a JSON text. */
  #shown: { readonly question: HostQuestion; readonly requestId: string } | null = null;
  /** The questions that they are shown by a result. */
  #inside = new Set<string>();

  constructor(options: PersonOptions) {
    this.#options = options;
  }

  /** Is a question of ours open at the host? */
  get isAsked(): boolean {
    return this.#shown !== null || this.#inside.size > 0;
  }

  /** The host is initialized, and shows forms that it is sent. */
  reach(): void {
    this.#isReachable = true;
    this.#next();
  }

  /** All that the daemon wants them to be asked now. */
  update(open: readonly HostQuestion[]): void {
    const ids = new Set(open.map(({ id }) => id));
    const stillOpen = (before: ReadonlySet<string>) => new Set([...before].filter((id) => ids.has(id)));
    this.#open = open;
    this.#asked = stillOpen(this.#asked);
    this.#awaited = stillOpen(this.#awaited);
    this.#inside = stillOpen(this.#inside);
    if (this.#shown !== null && !ids.has(this.#shown.question.id)) this.#withdraw(this.#shown.requestId);
    this.#next();
  }

  /** A call waits for these. */
  await(ids: readonly string[]): void {
    for (const id of ids) this.#awaited.add(id);
  }

  /** Of these, what can be asked by a result; it counts as asked. */
  askInside(ids: readonly string[]): readonly HostQuestion[] {
    const questions = this.#unasked(ids);
    for (const { id } of questions) {
      this.#asked.add(id);
      this.#inside.add(id);
    }
    return questions;
  }

  /** What the host has brought in answer to a question in a result, whatever it is. */
  answeredInside(question: HostQuestion, result: unknown): void {
    this.#inside.delete(question.id);
    this.#options.answer(readElicited(question, result));
    this.#next();
  }

  /** These cannot be asked here: they are left to others. */
  leave(ids: readonly string[]): void {
    for (const { id } of this.#isReachable ? [] : this.#unasked(ids)) {
      this.#asked.add(id);
      this.#options.answer({ id, says: 'pass' });
    }
  }

  #unasked(ids: readonly string[]): readonly HostQuestion[] {
    return this.#open.filter(({ id }) => ids.includes(id) && !this.#asked.has(id));
  }

  #next(): void {
    const open = this.#isReachable && this.#shown === null ? this.#open.filter(({ id }) => !this.#asked.has(id)) : [];
    const question = open.find(({ id }) => this.#awaited.has(id)) ?? open[0];
    if (question !== undefined) this.#ask(question);
    else if (!this.isAsked) this.#options.onIdle();
  }

  #ask(question: HostQuestion): void {
    const { host, own } = this.#options;
    const leftMs = Date.parse(question.until) - Date.now();
    const { id: requestId, reply } = own.open(Math.min(Math.max(0, leftMs), MAX_DEADLINE_MS) + GRACE_MS);
    this.#asked.add(question.id);
    this.#shown = { question, requestId };
    host.insert(`{"jsonrpc":"2.0","id":${requestId},"method":"${ELICIT}","params":${elicitationOf(question)}}`);
    void reply.then((answered) => this.#replied(requestId, answered));
  }

  /** A reply that comes when the question is over says nothing. */
  #replied(requestId: string, reply: Reply): void {
    if (this.#shown?.requestId !== requestId) return;
    const { question } = this.#shown;
    if (reply === null) this.#withdraw(requestId);
    else this.#shown = null;
    this.#options.answer(readElicited(question, reply?.result));
    this.#next();
  }

  #withdraw(requestId: string): void {
    const { host, own } = this.#options;
    this.#shown = null;
    own.giveUp(requestId);
    const params = `{"requestId":${requestId},"reason":"The question is over"}`;
    host.insert(`{"jsonrpc":"2.0","method":"${CANCELLED}","params":${params}}`);
  }
}
