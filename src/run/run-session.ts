// The life of `rootsd run`: the plan, the server, the end.

import type { Attachment, Heard } from '../client/attach.ts';
import type { Timer } from '../client/timer.ts';
import { RootsError } from '../core/errors.ts';
import { RPC } from '../core/protocol.ts';
import { ownUid } from '../disk/account.ts';
import type { RunOptions } from './arguments.ts';
import type { ByteSink, ByteSource } from './bytes.ts';
import { type Child, type Ended, startChild } from './child.ts';
import { Conversation } from './conversation.ts';
import { AT_ONCE, ChildEnding, PATIENT, QUICK } from './end-child.ts';
import { Guard } from './guard/guard.ts';
import { type Launch, plainLaunch, sameLaunch } from './launch.ts';
import { LineFlow } from './line-flow.ts';
import { LineWriter } from './line-writer.ts';
import type { Notices } from './notices.ts';
import { hasPlaceholders } from './placeholders.ts';
import { refusalOf, refusalOfBug } from './refusal.ts';
import { ServerProcess } from './server-process.ts';
import { ServerReplacement } from './server-replacement.ts';
import { ServerSettings } from './server-settings.ts';
import { SessionEnd } from './session-end.ts';
import { SessionRoots } from './session-roots.ts';
import { SessionView } from './session-view.ts';
import { argumentWarnings } from './warnings.ts';
import { workingDirectory } from './working-directory.ts';

/** How long a server may live on after it has closed its output. */
const SILENCE_MS = 500;

export interface RunSessionOptions {
  readonly run: RunOptions;
  readonly host: { readonly source: ByteSource; readonly sink: ByteSink };
  /** May a server without placeholders be started before the daemon has answered? */
  readonly mayStartEarly: () => boolean;
  /** Attaches to the daemon. */
  readonly reach: (heard: Heard) => Promise<Attachment>;
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
  readonly #view: SessionView;
  readonly #replacement: ServerReplacement;
  readonly #settings: ServerSettings;
  readonly #end: SessionEnd;
  /** Where the server runs; null: where we do. */
  #cwd: string | null = null;
  /** The newest, also while it is not served yet. */
  #child: Child | null = null;
  #process: ServerProcess | null = null;

  constructor(options: RunSessionOptions) {
    const { host, notices, timer, run } = options;
    this.#options = options;
    this.#host = new LineWriter(host.sink);
    this.#settings = new ServerSettings((sentence) => notices.say(sentence));
    this.#end = new SessionEnd({ host: this.#host, notices, timer });
    this.#guard = new Guard({
      timer,
      cwd: () => this.#cwd ?? workingDirectory(),
      onAnswer: () => this.#goOn(),
      onRefused: (call) => this.#view.refused(call),
    });
    this.#view = new SessionView({
      conversation: () => this.#conversation,
      notices,
      timer,
      run,
      onChange: () => this.#replacement.check(),
      settled: () => this.#replacement.settled(),
      resume: () => this.#goOn(),
    });
    this.#conversation = new Conversation({
      host: this.#host,
      notices,
      timer,
      guard: this.#guard,
      asks: this.#view.asks,
      onEra: (era) => this.#view.speaks(era),
      onInitialized: () => this.#view.initialized(),
      onHostRootsChanged: () => this.#view.askHostRoots(),
      hostRoots: this.#view.hostRootsInside,
      answer: (answer) => void this.#view.answer(answer),
      onHostEnd: () => this.#leave(),
      isHostHeard: () => !this.#hostFlow.isPaused,
      onFault: (fault) => this.#fail(fault),
    });
    this.#hostFlow = new LineFlow(host.source, {
      to: this.#conversation.server,
      answers: this.#host,
      judge: this.#conversation.hostMessages,
    });
    this.#replacement = new ServerReplacement({
      conversation: this.#conversation,
      timer,
      launch: () => this.#view.launch(),
      start: (launch) => this.#start(launch),
      stopped: () => this.#settings.release(),
      serve: (child) => this.#serve(child),
      over: this.#end.over,
      resume: () => this.#goOn(),
      onFault: (error) => this.#fail(error),
    });
    host.sink.onGone = () => this.hostIsGone();
  }

  /** Runs until the server has ended; how it did is how `run` ends. */
  async run(): Promise<Ended> {
    const { reach } = this.#options;
    const early = this.#startEarly();
    try {
      const attached = await Promise.race([reach(this.#heard), this.#end.signalled.reached]);
      if (attached === undefined) {
        await this.#abandon(early);
        return this.#end.withoutServer;
      }
      this.#begin(attached);
      const launch = this.#view.launch();
      if (launch === null) throw new RootsError('PEER_NOTHING_ALLOWED');
      this.#replacement.begin(this.#serve(await this.#startOnce(launch, early)), launch);
      this.#view.serve();
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

  /** What the daemon tells. */
  get #heard(): Heard {
    const { calls, person } = this.#conversation;
    return {
      onQuestions: (questions) => {
        person.update(questions);
        calls.askInside();
      },
      onView: (view) => {
        this.#view.take(view);
        calls.resume();
      },
      onDecided: (decided) => calls.decided(decided),
      onLost: () => calls.daemonIsGone(),
    };
  }

  /** What waits goes on as far as it may: what came first before the rest. */
  #goOn(): void {
    this.#conversation.resume();
    this.#hostFlow.resume();
    this.#process?.resume();
  }

  /** Ends the server and all below it; the signal is passed on at once. */
  signal(signal: NodeJS.Signals): void {
    this.#end.wasSignalled(signal);
    this.#process?.endBy(signal, PATIENT);
  }

  /** Passes a signal on that need not be the end. */
  pass(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** The host has died or reads no more. */
  hostIsGone(): void {
    this.#end.hostIsGone();
    this.#process?.end(PATIENT);
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

  #leave(): void {
    this.#end.hostHasLeft();
    this.#process?.end(PATIENT);
  }

  #begin(attachment: Attachment): void {
    const { run, timer, runtimeDirectories, notices } = this.#options;
    const { command } = run;
    const roots = new SessionRoots({
      attachment,
      server: this.#conversation.server,
      guard: this.#guard,
      timer,
      command,
      runtimeDirectories,
      uid: ownUid(),
      warn: (sentence) => notices.say(sentence),
      onSettled: () => this.#goOn(),
      onAsked: () => this.#view.asked(),
      onFault: (error) => this.#fail(error),
    });
    this.#conversation.use(roots.channel);
    for (const warning of argumentWarnings(command.slice(1), roots.plan)) notices.say(warning);
    this.#view.begin(attachment, roots);
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
      hurry: this.#end.hurry,
      judge: (onEnd) => this.#conversation.serverMessages(onEnd),
    });
    this.#process = process;
    void process.outputEnded.reached.then(() => this.#silent(process));
    const { signalled, signal, over, failure } = this.#end;
    if (signalled.isSet) process.endBy(signal, PATIENT);
    else if (over.isSet) process.end(failure === null ? PATIENT : QUICK);
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

  /** One that we have stopped has ended too; the session goes on until it is over. */
  async #untilEnd(): Promise<Ended> {
    for (;;) {
      const process = this.#process;
      if (process === null) throw new TypeError('there is no server');
      const ended = await process.finished();
      await this.#replacement.running();
      if (process !== this.#process) continue;
      const how = this.#replacement.isStopped ? this.#end.withoutServer : ended;
      const result = await this.#end.finish(how, { conversation: this.#conversation, hostFlow: this.#hostFlow });
      // What it has left behind ends too.
      await process.gone();
      return result;
    }
  }

  #refuse(reason: unknown): Promise<Ended> {
    return this.#end.refuse(reason, this.#conversation, () => {
      if (this.#process === null) this.#hostFlow.start();
      else this.#hostFlow.resume();
    });
  }

  /** A server that was started before the plan was here, and must not run without one. */
  async #abandon(early: Promise<Child> | null): Promise<void> {
    const child = await early?.catch(() => null);
    if (child == null || this.#process !== null) return;
    await new ChildEnding(child, AT_ONCE, this.#options.timer).finish();
  }

  /** The session cannot go on: the host hears why, and no server stays behind with a list that does not hold. */
  #fail(reason: unknown): void {
    const failure = this.#end.fail(reason);
    if (failure === null) return;
    this.#conversation.refuseAll(failure.error);
    this.#process?.end(QUICK);
  }

  #close(): void {
    this.#hostFlow.close();
    this.#options.notices.sayNoise();
    this.#guard.close();
    this.#view.close();
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
