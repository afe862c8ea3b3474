// The life of `rootsd run`: the plan, the server, its replacement, the end.

import type { Attachment } from '../client/attach.ts';
import type { Timer } from '../client/timer.ts';
import { RPC, type RpcError, type ViewMessage } from '../core/protocol.ts';
import { ownUid } from '../disk/account.ts';
import type { RunOptions } from './arguments.ts';
import type { ByteSink, ByteSource } from './bytes.ts';
import { type Child, type Ended, startChild } from './child.ts';
import { Conversation } from './conversation.ts';
import { AT_ONCE, ChildEnding, PATIENT, QUICK } from './end-child.ts';
import { HostRoots } from './host-roots.ts';
import { Latch } from './latch.ts';
import { LineFlow } from './line-flow.ts';
import { LineWriter } from './line-writer.ts';
import type { Notices } from './notices.ts';
import { hasPlaceholders } from './placeholders.ts';
import { refusalOf } from './refusal.ts';
import { ServerProcess } from './server-process.ts';
import { SessionRoots } from './session-roots.ts';
import { argumentWarnings, daemonLost, NEVER_ASKED, nothingAllowed } from './warnings.ts';

/** How long a refusal waits for the request that it answers; a host sends one at once. */
const REFUSAL_MS = 3_000;
/** The same where a server ended before it was asked anything. */
const LATE_REFUSAL_MS = 500;
/** How long calls may end before the server is replaced. */
const DRAIN_MS = 5_000;
/** A server that has not asked for roots this long after its start is not going to. */
const ASK_MS = 10_000;
/** How long a server may live on after it has closed its output. */
const SILENCE_MS = 500;
/** How long the host may take to read the rest after a signal. */
const HURRY_MS = 1_000;

export interface RunSessionOptions {
  readonly run: RunOptions;
  readonly host: { readonly source: ByteSource; readonly sink: ByteSink };
  /** Attaches to the daemon. */
  readonly reach: (onView: (view: ViewMessage) => void) => Promise<Attachment>;
  /** Where a tombstone may be made if nowhere else. */
  readonly temporaryDirectory: string;
  readonly notices: Notices;
  readonly timer: Timer;
}

export class RunSession {
  readonly #options: RunSessionOptions;
  readonly #host: LineWriter;
  readonly #hostFlow: LineFlow;
  readonly #conversation: Conversation;
  readonly #hostRoots: HostRoots;
  /** The host ended its input, or is gone. */
  readonly #hostLeft = new Latch();
  readonly #hostGone = new Latch();
  readonly #signalled = new Latch();
  #signal: NodeJS.Signals = 'SIGTERM';
  #attachment: Attachment | null = null;
  #roots: SessionRoots | null = null;
  #process: ServerProcess | null = null;
  #argv: readonly string[] = [];
  #replacement: Promise<void> | null = null;

  constructor(options: RunSessionOptions) {
    const { host, notices, timer } = options;
    this.#options = options;
    this.#host = new LineWriter(host.sink);
    this.#conversation = new Conversation({
      host: this.#host,
      notices,
      timer,
      onInitialized: () => this.#initialized(),
      onHostRootsChanged: () => this.#askHostRoots(),
      onHostEnd: () => this.#leave(),
      onFault: (what) => this.#fault(what),
    });
    this.#hostRoots = new HostRoots({
      ask: () => this.#conversation.askHostRoots(),
      onChange: (list) => {
        this.#roots?.narrow(list);
        this.#applied();
        this.#roots?.channel.release();
      },
      warn: (sentence) => notices.say(sentence),
    });
    this.#hostFlow = new LineFlow(host.source, {
      to: this.#conversation.server,
      answers: this.#host,
      judge: this.#conversation.hostMessages,
    });
    host.sink.onGone = () => this.hostIsGone();
  }

  /** Runs until the server has ended; how it did is how `run` ends. */
  async run(): Promise<Ended> {
    const { run, reach } = this.#options;
    // Where roots is the only channel, the server's command line does not depend on the plan.
    const early = hasPlaceholders(run.command.slice(1)) ? null : startChild(run.command, run.stdio);
    early?.catch(() => undefined);
    try {
      const attached = await Promise.race([reach((view) => this.#viewChanged(view)), this.#signalled.reached]);
      if (attached === undefined) return await this.#abandon(early);
      this.#begin(attached);
      this.#serve(await (early ?? this.#start()));
      this.#hostFlow.start();
      return await this.#untilEnd();
    } catch (error) {
      await this.#abandon(early);
      return await this.#refuse(error);
    } finally {
      this.#close();
    }
  }

  /** Ends the server and all below it; the signal is passed on at once. */
  signal(signal: NodeJS.Signals): void {
    this.#signal = signal;
    this.#signalled.set();
    this.#process?.end(PATIENT).signal(signal);
  }

  /** The host has died or reads no more. */
  hostIsGone(): void {
    this.#hostGone.set();
    this.#leave();
  }

  #leave(): void {
    this.#hostLeft.set();
    this.#process?.end(PATIENT);
  }

  #begin(attachment: Attachment): void {
    const { run, timer, temporaryDirectory, notices } = this.#options;
    const { server } = this.#conversation;
    this.#attachment = attachment;
    const uid = ownUid();
    const { command } = run;
    this.#roots = new SessionRoots({ attachment, server, timer, command, temporaryDirectory, uid });
    this.#conversation.use(this.#roots.channel);
    for (const warning of argumentWarnings(command.slice(1), this.#roots.plan)) notices.say(warning);
    this.#argv = this.#roots.argv();
    this.#sayIfEmpty();
    attachment.ack(attachment.view);
  }

  #start(): Promise<Child> {
    return startChild(this.#argv, this.#options.run.stdio);
  }

  #serve(child: Child): void {
    const { timer } = this.#options;
    const process = new ServerProcess(child, {
      host: this.#host,
      server: this.#conversation.server,
      timer,
      judge: (onEnd) => this.#conversation.serverMessages(onEnd),
    });
    this.#process = process;
    void process.outputEnded.reached.then(() => this.#silent(process));
    if (this.#signalled.isSet) process.end(PATIENT).signal(this.#signal);
    else if (this.#hostLeft.isSet) process.end(PATIENT);
  }

  /** A server that has closed its output answers nothing more, whether it ends or not. */
  async #silent(process: ServerProcess): Promise<void> {
    await Promise.race([process.ended, this.#wait(SILENCE_MS)]);
    if (process.hasEnded || process !== this.#process || this.#replacement !== null) return;
    this.#conversation.refuseAll({ code: RPC.internal, message: 'The server has closed its output' });
    process.end(PATIENT);
  }

  #initialized(): void {
    const { timer, notices, run } = this.#options;
    const channel = this.#roots?.channel;
    channel?.open();
    this.#askHostRoots();
    if (!channel?.isOffered || hasPlaceholders(run.command.slice(1))) return;
    timer(ASK_MS, () => {
      if (!channel.hasAsked) notices.say(NEVER_ASKED);
    });
  }

  #askHostRoots(): void {
    const { hostHasRoots, handshake } = this.#conversation;
    if (!hostHasRoots || !handshake.isInitialized || this.#roots?.plan.hostRoots !== 'narrow') return;
    this.#roots.channel.hold();
    void this.#hostRoots.refresh();
  }

  #viewChanged(view: ViewMessage): void {
    const { connected, refusal } = this.#attachment ?? {};
    if (connected === false) this.#options.notices.say(daemonLost(refusal ?? null));
    this.#roots?.update();
    this.#applied();
    const ack = (): void => this.#attachment?.ack(view);
    // Notices leave with setImmediate(); a replacement takes its time.
    if (this.#replacement === null) setImmediate(ack);
    else void this.#replacement.then(ack, () => undefined);
  }

  /** What holds is another list: say so, and give the server the command line that goes with it. */
  #applied(): void {
    this.#sayIfEmpty();
    if (this.#replacement !== null || !hasPlaceholders(this.#options.run.command.slice(1))) return;
    this.#replacement = this.#replaceWhileNeeded().finally(() => {
      this.#replacement = null;
    });
    this.#replacement.catch(() => undefined);
  }

  #sayIfEmpty(): void {
    const { run, notices } = this.#options;
    const { result, view } = this.#attachment ?? {};
    const server = result?.peer.server ?? run.server;
    if (this.#roots?.isEmpty) notices.say(nothingAllowed(server, this.#roots.plan, view?.view ?? []));
  }

  async #replaceWhileNeeded(): Promise<void> {
    for (;;) {
      const argv = this.#roots?.argv() ?? [];
      const old = this.#process;
      if (old === null || old.isBeingEnded || old.hasEnded || isSame(argv, this.#argv)) return;
      this.#argv = argv;
      await this.#replace(old);
    }
  }

  /** Another process takes the server's place; the host keeps its session, its messages wait meanwhile. */
  async #replace(old: ServerProcess): Promise<void> {
    const { hostMessages, open, handshake } = this.#conversation;
    hostMessages.gate = 'draining';
    if (handshake.openId === null) await Promise.race([open.whenEmpty(), old.ended, this.#wait(DRAIN_MS)]);
    if (old.hasEnded || old.isBeingEnded) return;
    hostMessages.gate = 'shut';
    old.end(QUICK);
    await old.finished();
    await old.gone();
    if (this.#signalled.isSet || this.#hostLeft.isSet) return;
    this.#conversation.abandonProcess({
      code: RPC.internal,
      message: 'The server was started again, because the directories it may use have changed; try again',
    });
    this.#serve(await this.#start());
    await Promise.race([this.#conversation.replay(), this.#process?.ended]);
    hostMessages.gate = 'open';
    this.#hostFlow.resume();
  }

  async #untilEnd(): Promise<Ended> {
    for (;;) {
      const process = this.#process;
      if (process === null) throw new TypeError('there is no server');
      const ended = await process.finished();
      await this.#replacement;
      if (process === this.#process) return await this.#finish(process, ended);
    }
  }

  /** The server has ended: what is open is answered, what was written is read, what it left behind ends. */
  async #finish(process: ServerProcess, ended: Ended): Promise<Ended> {
    const { open, refused } = this.#conversation;
    const how = ended.signal === null ? `status ${ended.status}` : ended.signal;
    const error = { code: RPC.internal, message: `The server has ended with ${how}`, data: ended };
    const hadQuestions = open.hasSeenOne;
    this.#conversation.refuseAll(error);
    this.#hostFlow.resume();
    if (!hadQuestions) {
      await Promise.race([
        refused.reached,
        this.#hostLeft.reached,
        this.#signalled.reached,
        this.#wait(LATE_REFUSAL_MS),
      ]);
    }
    await this.#endHost();
    await process.gone();
    return ended;
  }

  /** There will be no server: the host's first request is answered with the reason. */
  async #refuse(reason: unknown): Promise<Ended> {
    const { error, sentences, status } = refusalOf(reason);
    for (const sentence of sentences) this.#options.notices.say(sentence);
    this.#conversation.refuseAll(error);
    if (this.#process === null) this.#hostFlow.start();
    else this.#hostFlow.resume();
    const { refused } = this.#conversation;
    await Promise.race([refused.reached, this.#hostLeft.reached, this.#signalled.reached, this.#wait(REFUSAL_MS)]);
    await this.#endHost();
    return { status, signal: null };
  }

  /** A server that was started before the plan was here, and must not run without one. */
  async #abandon(early: Promise<Child> | null): Promise<Ended> {
    const child = await early?.catch(() => null);
    if (child != null && this.#process === null) {
      await new ChildEnding(child, AT_ONCE, this.#options.timer).finish();
    }
    return { status: null, signal: this.#signal };
  }

  /** The session cannot go on. */
  #fault(what: string): void {
    const error: RpcError = { code: RPC.internal, message: what };
    this.#options.notices.say(what);
    this.#conversation.refuseAll(error);
    this.#process?.end(PATIENT);
  }

  /** Waits until the host has read everything, unless it is gone, or we are told to end. */
  async #endHost(): Promise<void> {
    const hurry = this.#signalled.reached.then(() => this.#wait(HURRY_MS));
    await Promise.race([this.#host.end(), this.#hostGone.reached, hurry]);
  }

  #close(): void {
    this.#hostFlow.close();
    this.#options.notices.sayNoise();
    this.#attachment?.close();
    this.#roots?.close();
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#options.timer(ms, resolve);
    });
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, i) => word === b[i]);
}
