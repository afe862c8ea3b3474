// What holds, followed: the daemon's view and the host's own roots. The guard, the channel of roots and the launch of the
// server go with it.

import type { Attachment } from '../client/attach.ts';
import { RefusedRequest } from '../client/connection.ts';
import type { Timer } from '../client/timer.ts';
import type { Era, HostAnswer, RefusedCall, ViewMessage } from '../core/protocol.ts';
import { VERSION } from '../version.ts';
import type { RunOptions } from './arguments.ts';
import type { Conversation } from './conversation.ts';
import { Places } from './guard/places.ts';
import { HostRoots } from './host-roots.ts';
import type { Launch } from './launch.ts';
import type { Notices } from './notices.ts';
import type { Reply } from './own-requests.ts';
import { Report } from './report.ts';
import { ASK_MS } from './roots-channel.ts';
import type { HostRootsInside } from './round-trips.ts';
import type { SessionRoots } from './session-roots.ts';
import type { Asks } from './waiting-calls.ts';
import { daemonLost, NEVER_ASKED, nothingAllowed, otherVersion, waitsForPerson } from './warnings.ts';

export interface SessionViewOptions {
  readonly conversation: () => Conversation;
  readonly notices: Notices;
  readonly timer: Timer;
  /** What the command line says of the server. */
  readonly run: Pick<RunOptions, 'server' | 'command'>;
  /** Another launch may hold now. */
  readonly onChange: () => void;
  /** Resolves when the server goes by what holds (true), or none ever will (false). */
  readonly settled: () => Promise<boolean>;
  /** What the host says may be judged again. */
  readonly resume: () => void;
}

/** What is there once the daemon has answered. */
interface Begun {
  readonly attachment: Attachment;
  readonly roots: SessionRoots;
  readonly report: Report;
}

export class SessionView {
  readonly #options: SessionViewOptions;
  readonly #hostRoots: HostRoots;
  #begun: Begun | null = null;
  /** Is there a server, or was there one? */
  #isServed = false;

  constructor(options: SessionViewOptions) {
    this.#options = options;
    this.#hostRoots = new HostRoots({
      ask: () => options.conversation().askHostRoots(),
      onChange: (list) => {
        this.#begun?.roots.narrow(list);
        this.#changed();
        this.#begun?.roots.channel.release();
        options.resume();
      },
      warn: (sentence) => options.notices.say(sentence),
      timer: options.timer,
      openPlaces: (onAnswer) => new Places({ timer: options.timer, onAnswer }),
    });
  }

  /** For a host of the modern era, which lists its roots within its requests. */
  get hostRootsInside(): HostRootsInside {
    return {
      areWanted: () => this.#narrows,
      onTold: (reply: Reply) => this.#hostRoots.told(reply),
      areSought: () => this.#hostRoots.isLooking,
      warn: (sentence) => this.#options.notices.say(sentence),
    };
  }

  /** The daemon has answered. */
  begin(attachment: Attachment, roots: SessionRoots): void {
    this.#begun = { attachment, roots, report: new Report(attachment) };
    this.#begun.report.add({ channels: roots.carriers });
    this.#sayWhatIsOdd();
  }

  /** The server is there: from now on it is acknowledged what it goes by. */
  serve(): void {
    this.#isServed = true;
    if (this.#begun !== null) void this.#acknowledge(this.#begun.attachment.view);
  }

  /** What starts the server with what holds; null: nothing must. Throws as SessionRoots.launch() does. */
  launch(): Launch | null {
    return this.#begun?.roots.launch() ?? null;
  }

  /** The daemon says that another view holds. */
  take(view: ViewMessage): void {
    const { attachment, roots } = this.#begun ?? {};
    if (attachment?.connected === false) this.#options.notices.say(daemonLost(attachment.refusal));
    const before = roots?.plan;
    roots?.update();
    this.#changed();
    if (before?.hostRoots === 'ignore') this.askHostRoots();
    if (this.#isServed) void this.#acknowledge(view);
  }

  /** The server is initialized. */
  initialized(): void {
    const { timer, notices, conversation } = this.#options;
    const { roots, report } = this.#begun ?? {};
    if (conversation().hostShowsForms) report?.add({ elicits: true });
    roots?.channel.open();
    this.askHostRoots();
    if (!roots?.channel.isAnnounced || !roots.isRootsChannel) return;
    timer(ASK_MS, () => {
      if (roots.channel.hasAsked) return;
      notices.say(NEVER_ASKED);
      report?.add({ askedForRoots: false });
    });
  }

  /** The host speaks like this. */
  speaks(era: Era): void {
    this.#begun?.report.add({ era });
  }

  /** The server has asked for its roots. */
  asked(): void {
    this.#begun?.report.add({ askedForRoots: true });
  }

  /**
   * The person at the host has answered a question. That it was over by then need not be said. One whose answer does not count
   * is left to others: they are not asked again.
   */
  async answer(answer: HostAnswer): Promise<void> {
    try {
      await this.#begun?.attachment.answer(answer);
    } catch (error) {
      if (answer.says === 'pass' || (error instanceof RefusedRequest && error.code === 'CONSENT_UNKNOWN')) return;
      this.#options.notices.say(`The answer does not count: ${(error as Error).message}`);
      await this.answer({ id: answer.id, says: 'pass' });
    }
  }

  /** The guard has refused a call. */
  refused(call: Omit<RefusedCall, 'left'>): void {
    this.#begun?.report.refused(call);
  }

  /** Asks people for calls. */
  get asks(): Asks {
    const attachment = (): Attachment => {
      if (this.#begun === null) throw new TypeError('nothing of the host is read before the daemon has answered');
      return this.#begun.attachment;
    };
    return {
      request: (request) => attachment().request(request),
      callEnded: (ended) => attachment().callEnded(ended),
      holds: (serial) => attachment().view.serial >= serial,
      onAsked: (question) => this.#options.notices.say(waitsForPerson(question)),
      onForms: () => this.#begun?.report.add({ era: 'modern', elicits: true }),
    };
  }

  /** The host's own roots may be others. */
  askHostRoots(): void {
    const { hostHasRoots, handshake } = this.#options.conversation();
    if (!hostHasRoots || !handshake.isInitialized || !this.#narrows) return;
    this.#begun?.roots.channel.hold();
    void this.#hostRoots.refresh();
  }

  close(): void {
    this.#hostRoots.close();
    this.#begun?.attachment.close();
    this.#begun?.roots.close();
  }

  get #narrows(): boolean {
    return this.#begun?.roots.plan.hostRoots === 'narrow';
  }

  /** What holds is another list: says so, and lets the launch follow that goes with it. */
  #changed(): void {
    if (this.#begun !== null) this.#begun.report.add({ channels: this.#begun.roots.carriers });
    this.#sayWhatIsOdd();
    this.#options.onChange();
  }

  /** Says that a view is in force: never before the server has been told, or replaced; never of one that is outdated. */
  async #acknowledge(view: ViewMessage): Promise<void> {
    if (this.#begun === null || !(await this.#options.settled())) return;
    const { attachment, roots } = this.#begun;
    await roots.channel.whenTold();
    if (view === attachment.view) attachment.ack(view);
  }

  #sayWhatIsOdd(): void {
    if (this.#begun === null) return;
    const { notices, run } = this.#options;
    const { result, view } = this.#begun.attachment;
    const { plan, isEmpty } = this.#begun.roots;
    if (plan.version !== VERSION) notices.say(otherVersion(plan));
    if (isEmpty) notices.say(nothingAllowed({ ...run, server: result.peer.server ?? run.server }, plan, view.view));
  }
}
