// The person at the host, asked for their consent in its own window: one question at a time, and none again that they have
// left to others. What they say goes to the daemon, which knows whether it counts.

import type { HostAnswer, HostQuestion } from '../core/protocol.ts';
import { CANCELLED } from './cancelled.ts';
import { ELICIT, elicitationOf, readReply } from './elicitation.ts';
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
  /** Of those, the ones that have been asked. */
  #asked = new Set<string>();
  /** What they are shown; `requestId`: a JSON text. */
  #shown: { readonly question: HostQuestion; readonly requestId: string } | null = null;

  constructor(options: PersonOptions) {
    this.#options = options;
  }

  /** Is a question of ours open at the host? */
  get isAsked(): boolean {
    return this.#shown !== null;
  }

  /** The host is initialized, and shows forms. */
  reach(): void {
    this.#isReachable = true;
    this.#next();
  }

  /** All that the daemon wants them to be asked now. */
  update(open: readonly HostQuestion[]): void {
    const ids = new Set(open.map(({ id }) => id));
    this.#open = open;
    this.#asked = new Set([...this.#asked].filter((id) => ids.has(id)));
    if (this.#shown !== null && !ids.has(this.#shown.question.id)) this.#withdraw(this.#shown.requestId);
    this.#next();
  }

  #next(): void {
    if (!this.#isReachable || this.#shown !== null) return;
    const question = this.#open.find(({ id }) => !this.#asked.has(id));
    if (question === undefined) this.#options.onIdle();
    else this.#ask(question);
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
    this.#options.answer(readReply(question, reply));
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
