// Arguments, variables, settings, working directory: another one is another process. The host keeps its session, its
// messages wait meanwhile. Where there must be no process, it keeps its session too: requests get an error until there may
// be one again.
//
// INVARIANT: a process whose launch does not hold any more lives no longer than its calls take to end (5 s at most),
// whatever else is under way: the start of it, its handshake, or what the host does not read.

import type { Timer } from '../client/timer.ts';
import { RootsError } from '../core/errors.ts';
import { Latch } from '../core/latch.ts';
import { RPC, type RpcError } from '../core/protocol.ts';
import type { Child } from './child.ts';
import type { Conversation } from './conversation.ts';
import { QUICK } from './end-child.ts';
import { type Launch, sameLaunch } from './launch.ts';
import { refusalOf } from './refusal.ts';
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
  /** The launch that holds now; null: there must be no process. Throws a RootsError. */
  readonly launch: () => Launch | null;
  readonly start: (launch: Launch) => Promise<Child>;
  /** There is no process: what was made for it goes. */
  readonly stopped: () => Promise<void>;
  /** Ties a new process to the host; one that must not run is ended there. */
  readonly serve: (child: Child) => ServerProcess;
  /** Does the session end? Then nothing more is started. */
  readonly over: Latch;
  /** The host may be read again. */
  readonly resume: () => void;
  /** There can be no process with what holds. */
  readonly onFault: (error: unknown) => void;
}

export class ServerReplacement {
  readonly #options: ServerReplacementOptions;
  #process: ServerProcess | null = null;
  /** What the process was started with, and what holds; null: none runs, and none must. */
  #launch: Launch | null = null;
  #wanted: Launch | null = null;
  /** A process runs again after there was none. */
  #started = new Latch();
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

  /** Must no process run? */
  get isStopped(): boolean {
    return this.#process !== null && this.#launch === null;
  }

  /** Resolves when what runs is what must (true), or nothing ever will (false). */
  async settled(): Promise<boolean> {
    while (this.#isFollowing) await this.#following;
    return !this.#options.over.isSet;
  }

  /** The same, but while no process must run it waits for one that may. */
  async running(): Promise<boolean> {
    for (;;) {
      const mayGoOn = await this.settled();
      if (!mayGoOn || this.#launch !== null) return mayGoOn;
      await Promise.race([this.#started.reached, this.#options.over.reached]);
    }
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
    if (this.#launch !== null) this.#options.conversation.hostMessages.gate = 'open';
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
    const { launch, over } = this.#options;
    if (this.#launch !== null) {
      await this.#drain(old);
      if (this.#isEnding(old) || sameLaunch(this.#wanted, this.#launch)) return;
      await this.#end(old);
      if (over.isSet) return;
    }
    this.#wanted = launch();
    this.#launch = this.#wanted;
    if (this.#launch === null) await this.#stop();
    else await this.#startAgain(this.#launch);
  }

  async #end(old: ServerProcess): Promise<void> {
    this.#options.conversation.hostMessages.gate = 'shut';
    this.#stopReplay.abort();
    this.#replayed = null;
    old.end(QUICK);
    await old.finished();
    await old.gone();
  }

  async #stop(): Promise<void> {
    const { conversation, stopped } = this.#options;
    const { error } = refusalOf(new RootsError('PEER_NOTHING_ALLOWED'));
    conversation.abandonProcess(error);
    conversation.refuseForNow(error);
    this.#started = new Latch();
    await stopped();
  }

  async #startAgain(launch: Launch): Promise<void> {
    const { conversation, start, serve } = this.#options;
    conversation.hostMessages.gate = 'shut';
    // Also what was opened for a server while there was none.
    conversation.abandonProcess(STARTED_AGAIN);
    this.#process = serve(await start(launch));
    this.#stopReplay = new AbortController();
    this.#replayed = conversation.replay(this.#stopReplay.signal);
    this.#started.set();
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

  /** Does it end, by itself or because the session does? Then it is not replaced. One that we have stopped is. */
  #isEnding(process: ServerProcess): boolean {
    return this.#options.over.isSet || (this.#launch !== null && (process.hasEnded || process.isBeingEnded));
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#options.timer(ms, resolve);
    });
  }
}
