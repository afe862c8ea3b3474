// The roots channel: `roots/list` of the server is answered from our own copy, and a change is notified.

import type { Timer } from '../client/timer.ts';
import { type LaunchPlan, METHOD, RPC, type RpcError } from '../core/protocol.ts';
import type { Tombstone } from '../disk/tombstone.ts';
import { Barrier } from './barrier.ts';
import type { LineWriter } from './line-writer.ts';
import { errorLine } from './open-requests.ts';
import type { Told } from './told.ts';

/** How long an answer waits for the host's own roots, so that the first list need not be taken back. */
const HOST_ROOTS_WAIT_MS = 500;
const MAX_WAITING = 64;
/** A server that has not asked this long after its start is not going to. */
export const ASK_MS = 10_000;
const LIST_CHANGED = JSON.stringify({ jsonrpc: '2.0', method: METHOD.rootsChanged });
/** To a server that asks although the policy says that it need not. */
export const ROOTS_OFF: RpcError = {
  code: RPC.methodNotFound,
  message: 'Roots not supported',
  data: { reason: 'The policy says "roots: off" for this server' },
};

const NO_LIST = { code: RPC.internal, message: 'There is no list of roots' };

export interface RootsChannelOptions {
  readonly plan: LaunchPlan;
  readonly told: Told;
  readonly server: LineWriter;
  readonly tombstone: Tombstone;
  readonly timer: Timer;
  /** The server has taken up what it was told last, or is not waited for. */
  readonly onSettled: () => void;
  /** The server asks for its roots. */
  readonly onAsked: () => void;
  /** What must be told cannot be: the server must not go on with what it was told before. */
  readonly onFault: (error: unknown) => void;
}

export class RootsChannel {
  readonly #options: RootsChannelOptions;
  readonly #barrier: Barrier;
  #told: Told;
  #plan: LaunchPlan;
  /** Was this server told that it may ask? */
  #isAnnounced = false;
  #isOpen = false;
  #noticeIsDue = false;
  /** Has this server asked for the list? */
  #hasAsked = false;
  /** The list that it has (`#key`), and keeps until it has another one. */
  #served: string | null = null;
  #whenTold: (() => void)[] = [];
  #waiting: string[] = [];
  #cancelWait: (() => void) | null = null;
  /** Runs as long as a server that has not asked may still be about to. */
  #cancelYouth: (() => void) | null = null;

  constructor(options: RootsChannelOptions) {
    this.#options = options;
    this.#told = options.told;
    this.#plan = options.plan;
    this.#barrier = new Barrier(options.timer, options.onSettled);
  }

  /** Does the server still work by a list that does not hold any more? Calls wait as long. */
  get isSettling(): boolean {
    return this.#barrier.isClosed;
  }

  get isAnnounced(): boolean {
    return this.#isAnnounced;
  }

  /** The server is being initialized: are roots announced to it? */
  announce(): boolean {
    this.#isAnnounced = this.#plan.roots;
    return this.#isAnnounced;
  }

  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  /** The server is initialized: from now on it hears of changes, also of one since it asked too early. */
  open(): void {
    this.#isOpen = true;
    this.#cancelYouth = this.#options.timer(ASK_MS, () => {
      this.#cancelYouth = null;
    });
    if (this.#noticeIsDue && this.#hasAsked) this.#notifySoon();
    else this.#noNoticeIsDue();
  }

  /** Resolves when the server has no other list than the one that holds, or knows that it is another one now. */
  whenTold(): Promise<void> {
    if (this.#served === null || !this.#noticeIsDue || this.#served === this.#key) return Promise.resolve();
    return new Promise((resolve) => this.#whenTold.push(resolve));
  }

  /** Another process takes the server's place; it has heard nothing yet. */
  reset(): void {
    this.#isOpen = false;
    this.#isAnnounced = false;
    this.#hasAsked = false;
    this.#served = null;
    this.#waiting = [];
    this.#cancelYouth?.();
    this.#cancelYouth = null;
    this.#noNoticeIsDue();
    this.#barrier.open();
  }

  update(told: Told, plan: LaunchPlan): void {
    const before = this.#key;
    this.#told = told;
    this.#plan = plan;
    // The first answer waits for just this: there is no list yet that could have changed.
    const isAwaited = this.#cancelWait !== null && this.#served === null;
    if (this.#key === before || isAwaited || !(this.#isAnnounced || this.#served !== null)) return;
    if (this.#isOpen && !this.#noticeIsDue) this.#notifySoon();
    this.#noticeIsDue = true;
  }

  /** Until release(), or for 500 ms, answers wait. */
  hold(): void {
    this.#cancelWait ??= this.#options.timer(HOST_ROOTS_WAIT_MS, () => this.release());
  }

  release(): void {
    this.#cancelWait?.();
    this.#cancelWait = null;
    for (const id of this.#waiting.splice(0)) this.#reply(id);
  }

  /** Answers `roots/list` under this id (a JSON text). */
  answer(id: string): void {
    this.#noteAsked();
    if (this.#cancelWait !== null && this.#waiting.length < MAX_WAITING) this.#waiting.push(id);
    else this.#reply(id);
  }

  /** Are roots offered in a request of the modern era? */
  get isOffered(): boolean {
    return this.#plan.roots;
  }

  /**
   * The result of `roots/list` (a JSON text) for a server of the modern era, which asks within a result and keeps nothing: it
   * asks again at its next call, and is not notified. null: there is no list, and the session ends.
   */
  answerInside(): string | null {
    this.#noteAsked();
    return this.listInside();
  }

  /** The same where the server has not asked. */
  listInside(): string | null {
    try {
      return JSON.stringify({ roots: this.#list() });
    } catch (error) {
      this.#options.onFault(error);
      return null;
    }
  }

  #noteAsked(): void {
    this.#hasAsked = true;
    this.#options.onAsked();
  }

  #reply(id: string): void {
    const { server, onFault } = this.#options;
    if (!this.#plan.roots && this.#served === null) {
      server.insert(errorLine(id, ROOTS_OFF));
      return;
    }
    try {
      const result = JSON.stringify({ roots: this.#list() });
      server.insert(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
      this.#served = this.#key;
      this.#barrier.answered(this.#plan.barrierMs);
      this.#settleTold();
    } catch (error) {
      server.insert(errorLine(id, NO_LIST));
      onFault(error);
    }
  }

  /**
   * What holds of this channel. Once the policy says `roots: off` it carries nothing: to a server that has a list, -32601
   * would leave that one, so it gets what anyone gets from whom everything was taken.
   */
  #list(): Told['roots'] | readonly ReturnType<Tombstone['root']>[] {
    const roots = this.#plan.roots ? this.#told.roots : [];
    return roots.length === 0 && this.#plan.empty !== 'empty' ? [this.#options.tombstone.root()] : roots;
  }

  /** Changes of one moment are one notice. */
  #notifySoon(): void {
    if (this.#hasAsked || this.#cancelYouth !== null) this.#barrier.close();
    setImmediate(() => {
      if (!this.#noticeIsDue || !this.#isOpen) return;
      this.#options.server.insert(LIST_CHANGED);
      this.#noNoticeIsDue();
    });
  }

  #noNoticeIsDue(): void {
    this.#noticeIsDue = false;
    this.#settleTold();
  }

  #settleTold(): void {
    for (const resolve of this.#whenTold.splice(0)) resolve();
  }

  /** Equal where the server would be told the same. */
  get #key(): string {
    return this.#plan.roots ? this.#told.key : 'off';
  }
}
