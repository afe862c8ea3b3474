// How a session ends: who has left, what has failed, and what the host is told before its output ends.

import type { Timer } from '../client/timer.ts';
import { Latch } from '../core/latch.ts';
import { RPC } from '../core/protocol.ts';
import type { Ended } from './child.ts';
import type { Conversation } from './conversation.ts';
import type { LineFlow } from './line-flow.ts';
import type { LineWriter } from './line-writer.ts';
import type { Notices } from './notices.ts';
import { type Refusal, refusalOf } from './refusal.ts';

/** How long a refusal waits for the request that it answers; a host sends one at once. */
const REFUSAL_MS = 3_000;
/** The same where a server ended before it was asked anything. */
const LATE_REFUSAL_MS = 500;
/** How long the host may take to read the rest after a signal. */
const HURRY_MS = 1_000;

export interface SessionEndOptions {
  readonly host: LineWriter;
  readonly notices: Notices;
  readonly timer: Timer;
}

/** What is heard of last. */
export interface Hearing {
  readonly conversation: Conversation;
  readonly hostFlow: LineFlow;
}

export class SessionEnd {
  /** It has begun: no other server is started. */
  readonly over = new Latch();
  readonly signalled = new Latch();
  /** Resolves when nobody waits for a host that does not read. */
  readonly hurry: Promise<void>;
  readonly #options: SessionEndOptions;
  /** The host ended its input, or is gone. */
  readonly #hostLeft = new Latch();
  readonly #hostGone = new Latch();
  #signal: NodeJS.Signals = 'SIGTERM';
  #failure: Refusal | null = null;

  constructor(options: SessionEndOptions) {
    this.#options = options;
    const hurried = this.signalled.reached.then(() => this.#wait(HURRY_MS));
    this.hurry = Promise.race([this.#hostGone.reached, hurried]);
  }

  /** The last that came. */
  get signal(): NodeJS.Signals {
    return this.#signal;
  }

  /** Why the session cannot go on. */
  get failure(): Refusal | null {
    return this.#failure;
  }

  /** How `run` ends where no server has ended by itself. */
  get withoutServer(): Ended {
    if (this.signalled.isSet) return { status: null, signal: this.#signal };
    return { status: 0, signal: null };
  }

  hostHasLeft(): void {
    this.#hostLeft.set();
    this.over.set();
  }

  /** It reads no more either. */
  hostIsGone(): void {
    this.#hostGone.set();
    this.hostHasLeft();
  }

  wasSignalled(signal: NodeJS.Signals): void {
    this.#signal = signal;
    this.signalled.set();
    this.over.set();
  }

  /** Says why the session cannot go on, once: the first reason counts. null: there was one already. */
  fail(reason: unknown): Refusal | null {
    if (this.#failure !== null) return null;
    this.#failure = refusalOf(reason);
    for (const sentence of this.#failure.sentences) this.#options.notices.say(sentence);
    this.over.set();
    return this.#failure;
  }

  /** The server has ended: what is open is answered, what was written is read. Returns how `run` ends. */
  async finish(ended: Ended, { conversation, hostFlow }: Hearing): Promise<Ended> {
    const { open, refused } = conversation;
    const how = ended.signal === null ? `status ${ended.status}` : ended.signal;
    const error = { code: RPC.internal, message: `The server has ended with ${how}`, data: ended };
    const hadQuestions = open.hasSeenOne;
    conversation.refuseAll(this.#failure?.error ?? error);
    hostFlow.resume();
    if (!hadQuestions) await this.#untilHeard(refused, LATE_REFUSAL_MS);
    await this.#endHost();
    const status = this.#failure?.status ?? null;
    return status === null ? ended : { status, signal: null };
  }

  /** There will be no server: the host's first request is answered with the reason. `hear` lets it be heard. */
  async refuse(reason: unknown, conversation: Conversation, hear: () => void): Promise<Ended> {
    const { error, sentences, status } = refusalOf(reason);
    for (const sentence of sentences) this.#options.notices.say(sentence);
    conversation.refuseAll(error);
    hear();
    await this.#untilHeard(conversation.refused, REFUSAL_MS);
    await this.#endHost();
    return { status, signal: null };
  }

  #untilHeard(refused: Latch, limitMs: number): Promise<void> {
    return Promise.race([refused.reached, this.#hostLeft.reached, this.signalled.reached, this.#wait(limitMs)]);
  }

  /** Waits until the host has read everything, unless it is gone, or we are told to end. */
  async #endHost(): Promise<void> {
    await Promise.race([this.#options.host.end(), this.hurry]);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#options.timer(ms, resolve);
    });
  }
}
