// The life of `rootsd run`: the plan, the server, the end.

import type { Attachment } from '../client/attach.ts';
import type { Timer } from '../client/timer.ts';
import { RPC, type ViewMessage } from '../core/protocol.ts';
import { ownUid } from '../disk/account.ts';
import type { RunOptions } from './arguments.ts';
import type { ByteSink, ByteSource } from './bytes.ts';
import { type Child, type Ended, startChild } from './child.ts';
import { Conversation } from './conversation.ts';
import { AT_ONCE, ChildEnding, PATIENT, QUICK } from './end-child.ts';
import { Guard } from './guard/guard.ts';
import { HostRoots } from './host-roots.ts';
import { Latch } from './latch.ts';
import { type Launch, plainLaunch, sameLaunch } from './launch.ts';
import { LineFlow } from './line-flow.ts';
import { LineWriter } from './line-writer.ts';
import type { Notices } from './notices.ts';
import { hasPlaceholders } from './placeholders.ts';
import { type Refusal, refusalOf, refusalOfBug } from './refusal.ts';
import { ASK_MS } from './roots-channel.ts';
import { ServerProcess } from './server-process.ts';
import { ServerReplacement } from './server-replacement.ts';
import { ServerSettings } from './server-settings.ts';
import { SessionRoots } from './session-roots.ts';
import { argumentWarnings, daemonLost, NEVER_ASKED, nothingAllowed } from './warnings.ts';

/** How long a refusal waits for the request that it answers; a host sends one at once. */
const REFUSAL_MS = 3_000;
/** The same where a server ended before it was asked anything. */
const LATE_REFUSAL_MS = 500;
/** How long a server may live on after it has closed its output. */
const SILENCE_MS = 500;
/** How long the host may take to read the rest after a signal. */
const HURRY_MS = 1_000;

export interface RunSessionOptions {
  readonly run: RunOptions;
  readonly host: { readonly source: ByteSource; readonly sink: ByteSink };
  /** May a server without placeholders be started before the daemon has answered? */
  readonly mayStartEarly: () => boolean;
  /** Attaches to the daemon. */
  readonly reach: (onView: (view: ViewMessage) => void) => Promise<Attachment>;
  /** Where a tombstone may be made, after the directory of the daemon's socket. */
  readonly runtimeDirectories: readonly string[];
  readonly notices: Notices;
  readonly timer: Timer;
}

export class RunSession {
  readonly #options: RunSessionOptions;
  readonly #host: LineWriter;
  readonly #hostFlow: LineFlow;
  readonly #conversation: Conversation;
  readonly #guard: Guard;
  readonly #hostRoots: HostRoots;
  /** The host ended its input, or is gone. */
  readonly #hostLeft = new Latch();
  readonly #hostGone = new Latch();
  readonly #signalled = new Latch();
  /** Resolves when nobody waits for a host that does not read. */
  readonly #hurry: Promise<void>;
  readonly #replacement: ServerReplacement;
  readonly #settings = new ServerSettings();
  /** Where the server runs; null: where we do. */
  #cwd: string | null = null;
  #signal: NodeJS.Signals = 'SIGTERM';
  #attachment: Attachment | null = null;
  #roots: SessionRoots | null = null;
  /** The newest, also while it is not served yet. */
  #child: Child | null = null;
  #process: ServerProcess | null = null;
  /** Why the session cannot go on. */
  #failure: Refusal | null = null;

  constructor(options: RunSessionOptions) {
    const { host, notices, timer, run } = options;
    this.#options = options;
    this.#host = new LineWriter(host.sink);
    const hurried = this.#signalled.reached.then(() => this.#wait(HURRY_MS));
    this.#hurry = Promise.race([this.#hostGone.reached, hurried]);
    const onAnswer = (): void => {
      this.#conversation.resumeGuarded();
      this.#hostFlow.resume();
    };
    this.#guard = new Guard({ timer, cwd: () => this.#cwd ?? process.cwd(), onAnswer });
    this.#conversation = new Conversation({
      host: this.#host,
      notices,
      timer,
      guard: this.#guard,
      onInitialized: () => this.#initialized(),
      onHostRootsChanged: () => this.#askHostRoots(),
      hostRoots: {
        areWanted: () => this.#roots?.plan.hostRoots === 'narrow',
        onTold: (reply) => this.#hostRoots.told(reply),
        warn: (sentence) => notices.say(sentence),
      },
      onHostEnd: () => this.#leave(),
      isHostHeard: () => !this.#hostFlow.isPaused,
      onFault: (fault) => this.#fail(fault),
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
    this.#replacement = new ServerReplacement({
      conversation: this.#conversation,
      timer,
      launch: () => this.#roots?.launch() ?? plainLaunch(run.command),
      start: (launch) => this.#start(launch),
      serve: (child) => this.#serve(child),
      isOver: () => this.#isOver,
      resume: () => this.#hostFlow.resume(),
      onFault: (error) => this.#fail(error),
    });
    host.sink.onGone = () => this.hostIsGone();
  }

  /** Runs until the server has ended; how it did is how `run` ends. */
  async run(): Promise<Ended> {
    const { reach } = this.#options;
    const early = this.#startEarly();
    try {
      const attached = await Promise.race([reach((view) => this.#viewChanged(view)), this.#signalled.reached]);
      if (attached === undefined) return await this.#abandon(early);
      const roots = this.#begin(attached);
      const launch = roots.launch();
      const process = this.#serve(await this.#startOnce(launch, early));
      this.#replacement.begin(process, launch);
      void this.#acknowledge(attached.view);
      this.#hostFlow.start();
      return await this.#untilEnd();
    } catch (error) {
      await this.#abandon(early);
      return await this.#refuse(error);
    } finally {
      this.#close();
      await this.#restoreSettings();
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

  /** A bug of ours: whatever is below us ends now, and so will we. */
  crash(error: unknown): void {
    const { notices, timer } = this.#options;
    if (this.#child !== null) new ChildEnding(this.#child, AT_ONCE, timer).signal('SIGKILL');
    const refusal = refusalOfBug(error);
    for (const sentence of refusal.sentences) notices.say(sentence);
    this.#conversation.refuseAll(refusal.error);
    this.#close();
  }

  /** Does the session end? Then no other server is started. */
  get #isOver(): boolean {
    return this.#signalled.isSet || this.#hostLeft.isSet || this.#failure !== null;
  }

  #leave(): void {
    this.#hostLeft.set();
    this.#process?.end(PATIENT);
  }

  #begin(attachment: Attachment): SessionRoots {
    const { run, timer, runtimeDirectories, notices } = this.#options;
    const { server } = this.#conversation;
    const uid = ownUid();
    const { command } = run;
    const roots = new SessionRoots({
      attachment,
      server,
      guard: this.#guard,
      timer,
      command,
      runtimeDirectories,
      uid,
      warn: (sentence) => notices.say(sentence),
      onSettled: () => this.#hostFlow.resume(),
      onFault: (error) => this.#fail(error),
    });
    this.#attachment = attachment;
    this.#roots = roots;
    this.#conversation.use(roots.channel);
    for (const warning of argumentWarnings(command.slice(1), roots.plan)) notices.say(warning);
    this.#sayIfEmpty();
    return roots;
  }

  /** Starts the server before its plan is known, where nothing but roots can carry the boundary to it. */
  #startEarly(): Promise<Child> | null {
    const { run, mayStartEarly } = this.#options;
    if (hasPlaceholders(run.command.slice(1)) || !mayStartEarly()) return null;
    const early = this.#start(plainLaunch(run.command));
    early.catch(() => undefined);
    return early;
  }

  /** The server with the launch that the plan asks for: the one that was started early, if that is how. */
  async #startOnce(launch: Launch, early: Promise<Child> | null): Promise<Child> {
    if (early === null) return this.#start(launch);
    if (sameLaunch(launch, plainLaunch(this.#options.run.command))) return early;
    await this.#abandon(early);
    return this.#start(launch);
  }

  async #start(launch: Launch): Promise<Child> {
    await this.#settings.apply(launch.settings);
    this.#cwd = launch.cwd;
    this.#child = await startChild(launch, this.#options.run);
    return this.#child;
  }

  #serve(child: Child): ServerProcess {
    const process = new ServerProcess(child, {
      host: this.#host,
      server: this.#conversation.server,
      timer: this.#options.timer,
      hurry: this.#hurry,
      judge: (onEnd) => this.#conversation.serverMessages(onEnd),
    });
    this.#process = process;
    void process.outputEnded.reached.then(() => this.#silent(process));
    if (this.#signalled.isSet) process.end(PATIENT).signal(this.#signal);
    else if (this.#isOver) process.end(this.#failure === null ? PATIENT : QUICK);
    return process;
  }

  /** A server that has closed its output answers nothing more, whether it ends or not. */
  async #silent(process: ServerProcess): Promise<void> {
    await Promise.race([process.ended, this.#wait(SILENCE_MS)]);
    // One that is about to be replaced need not say any more.
    if (this.#conversation.hostMessages.gate === 'draining') await this.#replacement.settled();
    if (process.hasEnded || process.isBeingEnded) return;
    this.#conversation.refuseAll({ code: RPC.internal, message: 'The server has closed its output' });
    process.end(PATIENT);
  }

  #initialized(): void {
    const { timer, notices } = this.#options;
    const channel = this.#roots?.channel;
    channel?.open();
    this.#askHostRoots();
    if (!channel?.isAnnounced || !this.#roots?.isRootsChannel) return;
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
    const before = this.#roots?.plan;
    this.#roots?.update();
    this.#applied();
    if (before?.hostRoots === 'ignore') this.#askHostRoots();
    // While there is no server yet, nobody has heard of it: run() acknowledges when there is one.
    if (this.#process !== null) void this.#acknowledge(view);
  }

  /** What holds is another list: say so, and give the server the launch that goes with it. */
  #applied(): void {
    this.#sayIfEmpty();
    this.#replacement.check();
  }

  /** Says that a view is in force: never before the server has been told, or replaced; never of one that is outdated. */
  async #acknowledge(view: ViewMessage): Promise<void> {
    if (!(await this.#replacement.settled())) return;
    await this.#roots?.channel.whenTold();
    if (view === this.#attachment?.view) this.#attachment.ack(view);
  }

  #sayIfEmpty(): void {
    const { run, notices } = this.#options;
    const { result, view } = this.#attachment ?? {};
    const server = result?.peer.server ?? run.server;
    if (this.#roots?.isEmpty) notices.say(nothingAllowed(server, this.#roots.plan, view?.view ?? []));
  }

  async #untilEnd(): Promise<Ended> {
    for (;;) {
      const process = this.#process;
      if (process === null) throw new TypeError('there is no server');
      const ended = await process.finished();
      await this.#replacement.settled();
      if (process === this.#process) return await this.#finish(process, ended);
    }
  }

  /** The server has ended: what is open is answered, what was written is read, what it left behind ends. */
  async #finish(process: ServerProcess, ended: Ended): Promise<Ended> {
    const { open, refused } = this.#conversation;
    const how = ended.signal === null ? `status ${ended.status}` : ended.signal;
    const error = { code: RPC.internal, message: `The server has ended with ${how}`, data: ended };
    const hadQuestions = open.hasSeenOne;
    this.#conversation.refuseAll(this.#failure?.error ?? error);
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
    const status = this.#failure?.status ?? null;
    return status === null ? ended : { status, signal: null };
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

  /** The session cannot go on: the host hears why, and no server stays behind with a list that does not hold. */
  #fail(reason: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = refusalOf(reason);
    for (const sentence of this.#failure.sentences) this.#options.notices.say(sentence);
    this.#conversation.refuseAll(this.#failure.error);
    this.#process?.end(QUICK);
  }

  /** Waits until the host has read everything, unless it is gone, or we are told to end. */
  async #endHost(): Promise<void> {
    await Promise.race([this.#host.end(), this.#hurry]);
  }

  #close(): void {
    this.#hostFlow.close();
    this.#options.notices.sayNoise();
    this.#guard.close();
    this.#attachment?.close();
    this.#roots?.close();
  }

  async #restoreSettings(): Promise<void> {
    try {
      await this.#settings.release();
    } catch (error) {
      for (const sentence of refusalOf(error).sentences) this.#options.notices.say(sentence);
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#options.timer(ms, resolve);
    });
  }
}
