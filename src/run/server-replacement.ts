// Arguments, variables, settings, working directory: another one is another process. The host keeps its session, its
// messages wait meanwhile.
//
// INVARIANT: a process whose launch does not hold any more lives no longer than its calls take to end (5 s at most),
// whatever else is under way: the start of it, its handshake, or what the host does not read.

import type { Timer } from '../client/timer.ts';
import { RPC, type RpcError } from '../core/protocol.ts';
import type { Child } from './child.ts';
import type { Conversation } from './conversation.ts';
import { QUICK } from './end-child.ts';
import { type Launch, plainLaunch, sameLaunch } from './launch.ts';
import type { ServerProcess } from './server-process.ts';

/** How long calls may end before the server is replaced. */
const DRAIN_MS = 5_000;
const STARTED_AGAIN: RpcError = {
  code: RPC.internal,
  message: 'The server was started again, because the directories it may use have changed; try again',
};

export interface ServerReplacementOptions {
  readonly conversation: Conversation;
  readonly timer: Timer;
  /** The launch that holds now. Throws a RootsError. */
  readonly launch: () => Launch;
  readonly start: (launch: Launch) => Promise<Child>;
  /** Ties a new process to the host; one that must not run is ended there. */
  readonly serve: (child: Child) => ServerProcess;
  /** Does the session end? Then nothing more is started. */
  readonly isOver: () => boolean;
  /** The host may be read again. */
  readonly resume: () => void;
  /** There can be no process with what holds. */
  readonly onFault: (error: unknown) => void;
}

export class ServerReplacement {
  readonly #options: ServerReplacementOptions;
  #process: ServerProcess | null = null;
  /** What the process was started with, and what holds. */
  #launch: Launch = plainLaunch([]);
  #wanted: Launch = plainLaunch([]);
  /** Has the process been told what the host said to the ones before it? */
  #replayed: Promise<void> | null = null;
  #stopReplay = new AbortController();
  #isFollowing = false;
  #following: Promise<void> | null = null;
  #wake: () => void = () => undefined;

  constructor(options: ServerReplacementOptions) {
    this.#options = options;
  }

  /** The first process is there. What has changed while it was being started is looked at now. */
  begin(process: ServerProcess, launch: Launch): void {
    this.#process = process;
    this.#launch = launch;
    this.check();
  }

  /** What holds may be another list: replaces the process if its launch is another one now. */
  check(): void {
    if (this.#process === null) return;
    try {
      this.#wanted = this.#options.launch();
    } catch (error) {
      this.#options.onFault(error);
      return;
    }
    this.#wake();
    if (!this.#isFollowing) this.#following = this.#follow();
  }

  /** Resolves when a process runs with what holds (true), or none ever will (false). */
  async settled(): Promise<boolean> {
    while (this.#isFollowing) await this.#following;
    return !this.#options.isOver();
  }

  async #follow(): Promise<void> {
    this.#isFollowing = true;
    try {
      for (let process = this.#behind(); process !== null; process = this.#behind()) await this.#step(process);
    } catch (error) {
      this.#options.onFault(error);
    } finally {
      // In the same moment in which nothing was left to do: a change that comes later begins anew.
      this.#isFollowing = false;
    }
    if (this.#process === null || this.#isEnding(this.#process)) return;
    this.#options.conversation.hostMessages.gate = 'open';
    this.#options.resume();
  }

  /** The process of the moment, where it is not what it should be yet. */
  #behind(): ServerProcess | null {
    if (this.#process === null || this.#isEnding(this.#process)) return null;
    return sameLaunch(this.#wanted, this.#launch) && this.#replayed === null ? null : this.#process;
  }

  async #step(process: ServerProcess): Promise<void> {
    if (!sameLaunch(this.#wanted, this.#launch)) await this.#replace(process);
    else if (this.#replayed !== null) await this.#untilReplayed(process, this.#replayed);
  }

  async #replace(old: ServerProcess): Promise<void> {
    const { conversation, launch, start, serve, isOver } = this.#options;
    await this.#drain(old);
    if (this.#isEnding(old) || sameLaunch(this.#wanted, this.#launch)) return;
    conversation.hostMessages.gate = 'shut';
    this.#stopReplay.abort();
    old.end(QUICK);
    await old.finished();
    await old.gone();
    if (isOver()) return;
    conversation.abandonProcess(STARTED_AGAIN);
    this.#wanted = launch();
    this.#launch = this.#wanted;
    this.#process = serve(await start(this.#launch));
    this.#stopReplay = new AbortController();
    this.#replayed = conversation.replay(this.#stopReplay.signal);
  }

  /** Lets calls under way end; there are none where the server has not been heard yet. */
  async #drain(old: ServerProcess): Promise<void> {
    const { hostMessages, open, handshake } = this.#options.conversation;
    if (hostMessages.gate !== 'open' || handshake.openId !== null) return;
    hostMessages.gate = 'draining';
    await Promise.race([open.whenEmpty(), old.ended, this.#wait(DRAIN_MS)]);
  }

  /** Waits for the handshake, but not when something changes meanwhile. */
  async #untilReplayed(process: ServerProcess, replayed: Promise<void>): Promise<void> {
    const woken = new Promise<false>((resolve) => {
      this.#wake = () => resolve(false);
    });
    const isDone = await Promise.race([replayed.then(() => true), process.ended.then(() => true), woken]);
    if (isDone) this.#replayed = null;
  }

  /** Does it end, by itself or because the session does? Then it is not replaced. */
  #isEnding(process: ServerProcess): boolean {
    return process.hasEnded || process.isBeingEnded || this.#options.isOver();
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#options.timer(ms, resolve);
    });
  }
}
