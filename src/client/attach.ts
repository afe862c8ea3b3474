// A live attachment to the daemon: what we were last told, kept for a while when the daemon goes away.
//
// INVARIANT: while the connection is lost the view never grows. It stays for at most 30 s, then it is empty (docs/protocol.md).
// A daemon that is connected and does not answer is as good as gone.
// The 30 s are of the monotonic clock: setting the time changes nothing, a stopped process finds them over, and a suspended
// machine, on which no server does anything either, does not count.

import {
  type AccessDecided,
  type AccessReply,
  type AccessRequest,
  type Ack,
  type AttachParams,
  type AttachResult,
  type CallEnded,
  type HostAnswer,
  type HostQuestion,
  type HostQuestions,
  METHOD,
  type RefusedCall,
  type SessionReport,
  type ViewMessage,
} from '../core/protocol.ts';
import { Connection, LostConnection, RefusedRequest } from './connection.ts';
import { type Timer, unrefTimer } from './timer.ts';

const KEEP_MS = 30_000;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 1_000;
/** Between two questions whether the daemon still answers: one that hangs closes no connection. */
const PING_MS = 10_000;

/** What the daemon tells by itself. */
export interface Heard {
  /** A new complete view, in order; also the empty one after 30 s without a daemon. Never called before attach() resolves. */
  readonly onView: (view: ViewMessage) => void;
  /** All that a person at the host may answer now; none while nobody is connected. For who reports that it can be asked. */
  readonly onQuestions?: (questions: readonly HostQuestion[]) => void;
  /** What has become of a call that waited. */
  readonly onDecided?: (decided: AccessDecided) => void;
  /** The daemon is gone: what waited for its word gets none. */
  readonly onLost?: () => void;
}

export interface AttachOptions extends Heard {
  /** The sockets to try, in order; asked again before each attempt, since a daemon may come back elsewhere. */
  readonly sockets: () => Iterable<string>;
  readonly params: AttachParams;
  /** Of each request, in ms. */
  readonly deadlineMs?: number;
  readonly timer?: Timer;
  /** Called while nobody answers, with the number of attempts since the loss that have failed. May bring a daemon up. */
  readonly onAbsent?: (failedAttempts: number) => void;
  /** In [0, 1): spreads the attempts of many clients of one daemon. */
  readonly random?: () => number;
}

interface Opened {
  readonly path: string;
  readonly connection: Connection;
  readonly result: AttachResult;
  readonly view: ViewMessage;
}

/** Attaches. Rejects with a LostConnection (no daemon at any of the sockets) or a RefusedRequest (it does not want us). */
export async function attach(options: AttachOptions): Promise<Attachment> {
  const attachment = new Attachment(options);
  await attachment.start();
  return attachment;
}

/** See attach(). */
export class Attachment {
  readonly #options: AttachOptions;
  #opened: Opened | null = null;
  #result: AttachResult | null = null;
  #socketPath = '';
  #view: ViewMessage | null = null;
  /** What the peer last said of its host's roots: said again after a reconnect. */
  #hostRoots: readonly string[] | null = null;
  /** The same of what it reported. */
  #report: SessionReport | null = null;
  #cancelDrop: (() => void) | null = null;
  #cancelRetry: (() => void) | null = null;
  #cancelPing: (() => void) | null = null;
  /** Why the daemon does not take us back, where it is there and says so. */
  #refusal: RefusedRequest | null = null;
  #closed = false;

  constructor(options: AttachOptions) {
    this.#options = options;
  }

  /** Of the last successful attach. */
  get result(): AttachResult {
    if (this.#result === null) throw new TypeError('attach() has not resolved');
    return this.#result;
  }

  /** The socket of the last successful attach. */
  get socketPath(): string {
    return this.#socketPath;
  }

  /** What holds now. */
  get view(): ViewMessage {
    if (this.#view === null) throw new TypeError('attach() has not resolved');
    return this.#view;
  }

  get connected(): boolean {
    return this.#opened !== null;
  }

  /** Why the daemon, which is there, does not take us back; null: it took us, or is not there. */
  get refusal(): RefusedRequest | null {
    return this.#refusal;
  }

  /** For attach(): the first connection. */
  async start(): Promise<void> {
    this.#accept(await this.#open());
  }

  /** Says that a view is in force at the peer. */
  ack({ generation, serial }: ViewMessage): void {
    this.#opened?.connection.notify(METHOD.ack, { generation, serial } satisfies Ack);
  }

  /** Informs the daemon of the host's roots; narrowing is the caller's. */
  hostRoots(uris: readonly string[]): void {
    this.#hostRoots = uris;
    this.#sendHostRoots();
  }

  /** Says how the session goes, in place of what was said before. */
  report(report: SessionReport): void {
    this.#report = report;
    this.#sendReport();
  }

  /** Says that a call was refused, if anybody hears it. */
  refused(call: RefusedCall): void {
    this.#opened?.connection.notify(METHOD.refused, call);
  }

  /**
   * Says what the host has made of a question. Rejects with a RefusedRequest where that does not count, a LostConnection
   * where nobody has heard it.
   */
  async answer(answer: HostAnswer): Promise<void> {
    if (this.#opened === null) throw new LostConnection('the connection is lost');
    await this.#opened.connection.request(METHOD.answer, answer);
  }

  /** Asks for what a person could give. Rejects with a LostConnection, or a RefusedRequest of a daemon that knows no such thing. */
  async request(request: AccessRequest): Promise<AccessReply> {
    if (this.#opened === null) throw new LostConnection('the daemon is gone');
    return (await this.#opened.connection.request(METHOD.request, request)) as AccessReply;
  }

  /** Says that such a call has ended. */
  callEnded(ended: CallEnded): void {
    this.#opened?.connection.notify(METHOD.callEnded, ended);
  }

  close(): void {
    this.#closed = true;
    this.#cancelDrop?.();
    this.#cancelRetry?.();
    this.#cancelPing?.();
    this.#opened?.connection.close();
    this.#opened = null;
  }

  /** The first socket that takes us. */
  async #open(): Promise<Opened> {
    let last: Error = new LostConnection('no socket was found');
    for (const path of this.#options.sockets()) {
      try {
        return await this.#openAt(path);
      } catch (error) {
        if (!(error instanceof LostConnection)) throw error;
        last = error;
      }
    }
    throw last;
  }

  /** Attach and watch travel together: one round trip. Views that arrive before both are answered are the newer ones. */
  async #openAt(path: string): Promise<Opened> {
    const { params, deadlineMs, timer, onQuestions, onDecided } = this.#options;
    const early: { view?: ViewMessage } = {};
    const connection: Connection = await Connection.open(path, {
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(timer === undefined ? {} : { timer }),
      onNotification: (method, message) => {
        const isOurs = this.#opened?.connection === connection;
        if (!isOurs && method !== METHOD.view) return;
        if (method === METHOD.questions) onQuestions?.((message as HostQuestions).questions);
        if (method === METHOD.decided) onDecided?.(message as AccessDecided);
        if (method !== METHOD.view) return;
        if (isOurs) this.#publish(message as ViewMessage);
        else early.view = message as ViewMessage;
      },
      onClose: () => {
        if (this.#opened?.connection === connection) this.#lost();
      },
    });
    try {
      const [result, watch] = (await Promise.all([
        connection.request(METHOD.attach, params),
        connection.request(METHOD.watch, {}),
      ])) as [AttachResult, ViewMessage];
      return { path, connection, result, view: early.view ?? watch };
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  #accept(opened: Opened): void {
    if (this.#closed) {
      opened.connection.close();
      return;
    }
    this.#cancelDrop?.();
    this.#cancelDrop = null;
    this.#refusal = null;
    this.#opened = opened;
    this.#result = opened.result;
    this.#socketPath = opened.path;
    this.#sendHostRoots();
    this.#sendReport();
    if (this.#view === null) this.#view = opened.view;
    else this.#publish(opened.view);
    if (opened.connection.closed) this.#lost();
    else this.#pingLater(opened.connection);
  }

  #sendHostRoots(): void {
    if (this.#hostRoots === null) return;
    this.#opened?.connection.notify(METHOD.hostRoots, { roots: this.#hostRoots.map((uri) => ({ uri })) });
  }

  #sendReport(): void {
    if (this.#report !== null) this.#opened?.connection.notify(METHOD.report, this.#report);
  }

  #publish(view: ViewMessage): void {
    this.#view = view;
    this.#options.onView(view);
  }

  /** Any answer is a sign of life, also that of a daemon that knows no ping. */
  #pingLater(connection: Connection): void {
    const { timer = unrefTimer } = this.#options;
    this.#cancelPing = timer(PING_MS, () => {
      connection.request(METHOD.ping, {}).then(
        () => this.#answered(connection),
        (error: unknown) => {
          if (error instanceof RefusedRequest) this.#answered(connection);
          else connection.close();
        },
      );
    });
  }

  #answered(connection: Connection): void {
    if (this.#opened?.connection === connection) this.#pingLater(connection);
  }

  #lost(): void {
    this.#cancelPing?.();
    this.#opened = null;
    if (this.#closed) return;
    const { timer = unrefTimer, onQuestions, onLost } = this.#options;
    onQuestions?.([]);
    onLost?.();
    this.#cancelDrop ??= timer(KEEP_MS, () => {
      this.#publish({ ...this.view, roots: [], boundary: [], view: [], offers: [] });
    });
    this.#retry(1);
  }

  #retry(attempt: number): void {
    const { timer = unrefTimer, random = Math.random, onAbsent } = this.#options;
    this.#cancelRetry = timer(retryDelayMs(attempt, random()), () => {
      this.#open().then(
        (opened) => this.#accept(opened),
        (error: unknown) => {
          if (this.#closed) return;
          this.#refusal = error instanceof RefusedRequest ? error : null;
          if (this.#refusal === null) onAbsent?.(attempt);
          this.#retry(attempt + 1);
        },
      );
    });
  }
}

/** Twice as long from one attempt to the next, up to a second; of that the last half is left to chance. */
function retryDelayMs(attempt: number, chance: number): number {
  const wholeMs = Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LAST_RETRY_MS);
  return wholeMs * (1 - chance / 2);
}
