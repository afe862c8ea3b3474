// The roots channel: `roots/list` of the server is answered from our own copy, and a change is notified.

import type { Timer } from '../client/timer.ts';
import { type LaunchPlan, METHOD, RPC } from '../core/protocol.ts';
import type { LineWriter } from './line-writer.ts';
import { errorLine } from './open-requests.ts';
import type { Told } from './told.ts';
import type { Tombstone } from './tombstone.ts';

/** How long an answer waits for the host's own roots, so that the first list need not be taken back. */
const HOST_ROOTS_WAIT_MS = 500;
const MAX_WAITING = 64;
const LIST_CHANGED = JSON.stringify({ jsonrpc: '2.0', method: METHOD.rootsChanged });
const NOT_SUPPORTED = {
  code: RPC.methodNotFound,
  message: 'Roots not supported',
  data: { reason: 'The policy says "roots: off" for this server' },
};

export interface RootsChannelOptions {
  readonly plan: LaunchPlan;
  readonly told: Told;
  readonly server: LineWriter;
  readonly tombstone: Tombstone;
  readonly timer: Timer;
}

export class RootsChannel {
  readonly #options: RootsChannelOptions;
  #told: Told;
  #isOpen = false;
  #noticeIsDue = false;
  /** Has this server asked for the list? */
  #hasAsked = false;
  /** Has it had an answer? */
  #hasList = false;
  #waiting: string[] = [];
  #cancelWait: (() => void) | null = null;

  constructor(options: RootsChannelOptions) {
    this.#options = options;
    this.#told = options.told;
  }

  /** Are roots announced to the server? */
  get isOffered(): boolean {
    return this.#options.plan.roots;
  }

  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  /** The server is initialized: from now on it hears of changes, also of one since it asked too early. */
  open(): void {
    this.#isOpen = true;
    if (this.#noticeIsDue && this.#hasAsked) this.#notifySoon();
    else this.#noticeIsDue = false;
  }

  /** Another process takes the server's place; it has heard nothing yet. */
  reset(): void {
    this.#isOpen = false;
    this.#noticeIsDue = false;
    this.#hasAsked = false;
    this.#hasList = false;
    this.#waiting = [];
  }

  update(told: Told): void {
    const isChanged = told.key !== this.#told.key;
    this.#told = told;
    // The first answer waits for just this: there is no list yet that could have changed.
    const isAwaited = this.#cancelWait !== null && !this.#hasList;
    if (!isChanged || isAwaited || !this.#options.plan.roots) return;
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
    this.#hasAsked = true;
    if (this.#cancelWait !== null && this.#waiting.length < MAX_WAITING) this.#waiting.push(id);
    else this.#reply(id);
  }

  #reply(id: string): void {
    this.#hasList = true;
    const { plan, server } = this.#options;
    if (!plan.roots) server.insert(errorLine(id, NOT_SUPPORTED));
    else server.insert(`{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify({ roots: this.#list() })}}`);
  }

  #list(): Told['roots'] | readonly ReturnType<Tombstone['root']>[] {
    const { plan, tombstone } = this.#options;
    return this.#told.roots.length === 0 && plan.empty !== 'empty' ? [tombstone.root()] : this.#told.roots;
  }

  /** Changes of one moment are one notice. */
  #notifySoon(): void {
    setImmediate(() => {
      if (!this.#noticeIsDue || !this.#isOpen) return;
      this.#noticeIsDue = false;
      this.#options.server.insert(LIST_CHANGED);
    });
  }
}
