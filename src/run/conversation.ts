// What host and server have said to each other, as far as it matters to us. It outlives the server's process.

import type { Timer } from '../client/timer.ts';
import { Latch } from '../core/latch.ts';
import { type Era, type HostAnswer, METHOD, type RpcError } from '../core/protocol.ts';
import type { Guard } from './guard/guard.ts';
import { Handshake } from './handshake.ts';
import { HeldQuestions } from './held-questions.ts';
import { HostMessages } from './host-messages.ts';
import { InsideQuestions } from './inside-questions.ts';
import type { Judge } from './line-flow.ts';
import { LineWriter } from './line-writer.ts';
import { readMessage } from './message.ts';
import type { Notices } from './notices.ts';
import { OpenRequests } from './open-requests.ts';
import { OwnIds, OwnRequests, type Reply } from './own-requests.ts';
import { Person } from './person.ts';
import { StreamFault } from './refusal.ts';
import type { RootsChannel } from './roots-channel.ts';
import { type HostRootsInside, RoundTrips } from './round-trips.ts';
import { ServerMessages } from './server-messages.ts';
import { ServerRequests } from './server-requests.ts';
import { type Asks, WaitingCalls } from './waiting-calls.ts';

const HOST_DEADLINE_MS = 5_000;
const HEADERS = 'The server frames its messages by "Content-Length" headers, which MCP does not know';

export interface ConversationOptions {
  readonly host: LineWriter;
  readonly notices: Notices;
  readonly timer: Timer;
  readonly guard: Guard;
  /** Whoever asks people. */
  readonly asks: Asks;
  readonly onEra: (era: Era) => void;
  readonly onInitialized: () => void;
  readonly onHostRootsChanged: () => void;
  /** The roots of a host of the modern era. */
  readonly hostRoots: HostRootsInside;
  readonly onHostEnd: () => void;
  /** What the person at the host has said to a question of ours. */
  readonly answer: (answer: HostAnswer) => void;
  /** Is the host being read, or does it have to wait? */
  readonly isHostHeard: () => boolean;
  /** Nothing more can be passed on. */
  readonly onFault: (fault: StreamFault) => void;
}

export class Conversation {
  readonly server = new LineWriter();
  readonly calls: WaitingCalls;
  readonly open = new OpenRequests((id) => this.calls.settled(id));
  readonly handshake = new Handshake();
  readonly hostMessages: HostMessages;
  readonly person: Person;
  /** A request has been answered with the gate's error. */
  readonly refused = new Latch();
  readonly #options: ConversationOptions;
  /** Two of them: a server that is told the one cannot guess an id of the other. */
  readonly #ids = { toHost: new OwnIds(), toServer: new OwnIds() };
  readonly #askHost: OwnRequests;
  readonly #askServer: OwnRequests;
  readonly #fromServer = new ServerRequests();
  readonly #held = new HeldQuestions();
  readonly #trips: RoundTrips;
  #channel: RootsChannel | null = null;
  #hostHasRoots = false;
  #hostShowsForms = false;
  /** Lines of the replay that go on when the guard knows more. */
  #whenGuardKnows: (() => void)[] = [];

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#askHost = new OwnRequests(this.#ids.toHost, options.timer);
    this.#askServer = new OwnRequests(this.#ids.toServer, options.timer);
    this.person = new Person({
      host: options.host,
      own: this.#askHost,
      answer: options.answer,
      onIdle: () => this.#held.release(),
    });
    this.#trips = new RoundTrips({
      ids: this.#ids.toServer,
      open: this.open,
      host: options.host,
      server: this.server,
      timer: options.timer,
      guard: options.guard,
      roots: () => this.#channel,
      hostRoots: options.hostRoots,
    });
    const { asks, host } = options;
    const { person } = this;
    const inside = new InsideQuestions(host, person);
    this.calls = new WaitingCalls({ asks, host, person, inside, goOn: (...call) => this.hostMessages.goOn(...call) });
    this.hostMessages = new HostMessages({
      announce: () => this.#channel?.announce() ?? false,
      isSettling: () => this.#channel?.isSettling ?? false,
      offersRoots: () => this.#channel?.isOffered ?? false,
      host,
      server: this.server,
      ids: this.#ids.toHost,
      own: this.#askHost,
      open: this.open,
      trips: this.#trips,
      fromServer: this.#fromServer,
      handshake: this.handshake,
      guard: options.guard,
      calls: this.calls,
      onEra: options.onEra,
      onInitialize: ({ hostHasRoots, hostShowsForms }) => {
        this.#hostHasRoots = hostHasRoots;
        this.#hostShowsForms = hostShowsForms;
      },
      onInitialized: () => {
        options.onInitialized();
        if (this.#hostShowsForms) this.person.reach();
      },
      onRootsChanged: options.onHostRootsChanged,
      onRefused: () => this.refused.set(),
      onEnd: options.onHostEnd,
      onTooLong: () => options.onFault(new StreamFault('The host wrote a line of more than 64 MiB', 'host')),
    });
  }

  /** Did the host offer roots of its own? */
  get hostHasRoots(): boolean {
    return this.#hostHasRoots;
  }

  /** Can the person at the host be shown forms, once it is initialized? */
  get hostShowsForms(): boolean {
    return this.#hostShowsForms;
  }

  /** From now on roots are offered, and asked for, through this channel. */
  use(channel: RootsChannel): void {
    this.#channel = channel;
  }

  /** What waits for the guard, or for a person, goes on as far as it may. */
  resume(): void {
    this.calls.resume();
    this.#trips.resume();
    for (const resolve of this.#whenGuardKnows.splice(0)) resolve();
  }

  /** Asks the host for its own roots; null: no answer within 5 s in which it was heard. */
  askHostRoots(): Promise<Reply> {
    const { id, reply } = this.#askHost.open(HOST_DEADLINE_MS, this.#options.isHostHeard);
    this.#options.host.insert(`{"jsonrpc":"2.0","id":${id},"method":"${METHOD.listRoots}"}`);
    return reply;
  }

  /** Judges what a server process writes. */
  serverMessages(onEnd: () => void): Judge {
    const channel = this.#channel;
    if (channel === null) throw new TypeError('a server is started before the plan is here');
    const { onFault, notices } = this.#options;
    return new ServerMessages({
      host: this.#options.host,
      server: this.server,
      ids: this.#ids,
      own: this.#askServer,
      person: this.person,
      held: this.#held,
      open: this.open,
      trips: this.#trips,
      fromServer: this.#fromServer,
      handshake: this.handshake,
      guard: this.#options.guard,
      channel,
      notices,
      onHeaders: () => onFault(new StreamFault(HEADERS, 'server')),
      onEnd,
      onTooLong: () => onFault(new StreamFault('The server wrote a line of more than 64 MiB', 'server')),
    });
  }

  /** Answers what is open, and all that is still to come, in the server's place. */
  refuseAll(error: RpcError): void {
    this.hostMessages.gate = { error, isForNow: false };
    this.#trips.abandon();
    this.calls.fail(error);
    this.open.fail(this.#options.host, error);
  }

  /** The process is gone, another one is to come: what it left unanswered is answered for it. */
  abandonProcess(error: RpcError): void {
    this.open.failCalls(this.#options.host, error, this.handshake.openId);
    this.hostMessages.cutOff(error);
    this.#trips.abandon();
    this.#fromServer.abandon();
    this.#held.forget();
    this.#askServer.abandon();
    this.#channel?.reset();
    this.#options.guard.answers.forget();
  }

  /** No process is to come for now: what the host asks is answered with this error until one does. */
  refuseForNow(error: RpcError): void {
    this.server.redirect(null);
    this.hostMessages.gate = { error, isForNow: true };
  }

  /** Brings a new process to where the old one was; `signal`: it is being replaced itself. */
  async replay(signal: AbortSignal): Promise<void> {
    const offersRoots = this.#channel?.announce() ?? false;
    const mayPass = (line: Buffer): Promise<boolean> => this.#mayPass(line);
    await this.handshake.replay(this.server, this.#askServer, { offersRoots, mayPass, signal });
    if (!signal.aborted && this.handshake.isInitialized) this.#channel?.open();
  }

  /** May a process that takes the place of another get this line too? Judged anew: less may be allowed by now. */
  async #mayPass(line: Buffer): Promise<boolean> {
    const { guard } = this.#options;
    for (;;) {
      const mayPass = guard.mayPassAgain(line, readMessage(line));
      if (mayPass === 'wait') await new Promise<void>((resolve) => this.#whenGuardKnows.push(resolve));
      else {
        guard.lineIsDone();
        return mayPass;
      }
    }
  }
}
