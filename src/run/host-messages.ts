// host -> server. What concerns roots is kept or rewritten here; all else passes as it is.

import { type Era, MAY_ASK_BACK, METHOD, NAMES_PLACES, type RpcError } from '../core/protocol.ts';
import { type Announcement, announceRoots } from './announce.ts';
import { judgeBatch, membersOf } from './batch.ts';
import { CANCELLED, cancelledId, withCancelledId } from './cancelled.ts';
import type { Asking, Guard, Judgement } from './guard/guard.ts';
import type { NotGiven } from './guard/held-places.ts';
import { type Handshake, INITIALIZED, LISTEN, SETTINGS } from './handshake.ts';
import type { Judge, Opening, Verdict } from './line-flow.ts';
import type { LineWriter } from './line-writer.ts';
import { type Message, parseMessage, readMessage } from './message.ts';
import { readHead, readTailId } from './message-edges.ts';
import { keepRequest, type ModernRequest, offerInRequest, readModernRequest } from './modern-request.ts';
import { errorLine, type OpenRequests } from './open-requests.ts';
import type { OwnIds, OwnRequests } from './own-requests.ts';
import type { RoundTrips } from './round-trips.ts';
import type { ServerRequests } from './server-requests.ts';
import { applyEdits } from './splice.ts';
import type { WaitingCalls } from './waiting-calls.ts';

/** Methods whose lines are read whole, in either era. */
const READ_WHOLE: ReadonlySet<string> = new Set([
  'initialize',
  INITIALIZED,
  CANCELLED,
  METHOD.rootsChanged,
  ...SETTINGS,
]);

/** There is no server: requests are answered with this error. */
export interface Refusing {
  readonly error: RpcError;
  /** There may be one later: what the host says beside its requests is remembered for it. */
  readonly isForNow: boolean;
}

/** `draining`: requests wait, so that those under way can end. `shut`: everything waits, there is no server now. */
export type Gate = 'open' | 'draining' | 'shut' | Refusing;

export interface HostMessagesOptions {
  /** The server is being initialized: are roots announced to it? */
  readonly announce: () => boolean;
  /** Does the server still work by a list that does not hold any more? */
  readonly isSettling: () => boolean;
  /** Are roots offered in a request of the modern era? */
  readonly offersRoots: () => boolean;
  readonly host: LineWriter;
  readonly server: LineWriter;
  /** Those of our requests to the host. */
  readonly ids: OwnIds;
  readonly own: OwnRequests;
  readonly open: OpenRequests;
  readonly trips: RoundTrips;
  readonly fromServer: ServerRequests;
  readonly handshake: Handshake;
  readonly guard: Guard;
  /** Those that wait for a person. */
  readonly calls: WaitingCalls;
  /** The host speaks like this, from now on or still. */
  readonly onEra: (era: Era) => void;
  readonly onInitialize: (announcement: Announcement) => void;
  readonly onInitialized: () => void;
  readonly onRootsChanged: () => void;
  /** A request was answered with the gate's error. */
  readonly onRefused: () => void;
  readonly onEnd: () => void;
  readonly onTooLong: () => void;
}

export class HostMessages implements Judge {
  readonly #options: HostMessagesOptions;
  gate: Gate = 'open';
  /** The process that got the beginning of the line that passes is gone. */
  #cutOff: RpcError | null = null;
  /** Has the host sent a request of the modern era? */
  #isModern = false;

  constructor(options: HostMessagesOptions) {
    this.#options = options;
  }

  line(line: Buffer, isOurs: boolean): Verdict {
    const message = this.#read(line);
    if (this.#mustWait(message)) return 'wait';
    const verdict = message.kind === 'batch' ? this.#judgeBatch(line) : this.#judgeSingle(message, line, isOurs);
    if (verdict !== 'wait') this.#options.guard.lineIsDone();
    return verdict;
  }

  opening(head: Buffer): Opening {
    const { own, ids, fromServer } = this.#options;
    const read = readHead(head);
    if (read === null || typeof this.gate === 'object') return 'hold';
    const { method, id } = read;
    if (method === null) {
      const mayBeOurs = id === null ? own.hasOpen || fromServer.hasStale : ids.has(id) || fromServer.isStale(id);
      if (mayBeOurs) return 'hold';
      return this.gate === 'shut' ? 'wait' : (tail) => fromServer.settle(id ?? readTailId(tail));
    }
    if (this.gate !== 'open' || this.#waitsForServer(method)) return 'wait';
    if (this.#needsAll(method)) return 'hold';
    this.#cutOff = null;
    return (tail) => this.#passed(id ?? readTailId(tail));
  }

  /**
   * Is a call judged by all of its line? In the modern era every request is, since its capabilities may come last; a
   * connection is of the legacy era where it began with `initialize` and had no modern request since.
   */
  #needsAll(method: string): boolean {
    const { guard, handshake } = this.#options;
    return READ_WHOLE.has(method) || guard.judges(method) || this.#isModern || !handshake.hasBegun;
  }

  /** The process is gone. A request of which it got the beginning will have no end; the host gets this error for it. */
  cutOff(error: RpcError): void {
    this.#cutOff = error;
  }

  ended(): void {
    this.#options.calls.end(this.#options.onEnd);
  }

  /** A call that has waited for a person goes on, if it may: it is judged by what holds now. */
  goOn(line: Buffer, notGiven: NotGiven | null): 'passed' | 'answered' | 'later' {
    const { guard, server } = this.#options;
    const message = this.#read(line);
    if (this.#mustWait(message)) return 'later';
    const judgement = typeof this.gate === 'object' ? 'pass' : guard.judge(line, message, notGiven);
    if (judgement === 'wait') return 'later';
    guard.lineIsDone();
    const verdict = this.#judge(message, line, { judgement, isOurs: true });
    if (verdict === 'drop') return 'answered';
    server.insert(verdict === 'pass' ? [line] : verdict);
    return 'passed';
  }

  /** Where its id came first it is answered with all that is open. */
  tooLong(head: Buffer): void {
    const { id, method } = readHead(head) ?? { id: null, method: null };
    if (id !== null && method !== null) this.#options.open.add(id);
    this.#options.onTooLong();
  }

  /** A long request has passed, as it came. */
  #passed(id: string | null): void {
    if (id === null) return;
    if (this.#cutOff === null) this.#options.open.add(id);
    else this.#options.host.insert(errorLine(id, this.#cutOff));
  }

  /** What is rewritten or kept must be JSON to its end; of what passes that is the server's affair. */
  #read(line: Buffer): Message {
    const message = readMessage(line);
    return message.kind === 'call' && READ_WHOLE.has(message.method) ? parseMessage(line) : message;
  }

  /** Answers to our own requests never wait: what they say may be what the gate is shut for. */
  #mustWait(message: Message): boolean {
    if (message.kind === 'answer' && this.#options.ids.has(message.id)) return false;
    if (this.gate === 'shut') return true;
    if (message.kind === 'call' && this.#waitsForServer(message.method)) return true;
    if (this.gate !== 'draining') return message.kind === 'batch' && this.#options.isSettling();
    return message.kind === 'batch' || (message.kind === 'call' && message.id !== null);
  }

  /** A call that may rely on what has changed waits until the server has taken it up. */
  #waitsForServer(method: string): boolean {
    return typeof this.gate !== 'object' && NAMES_PLACES.has(method) && this.#options.isSettling();
  }

  #judgeSingle(message: Message, line: Buffer, isOurs: boolean): Verdict {
    const { calls } = this.#options;
    const isCall = message.kind === 'call' && message.id !== null && MAY_ASK_BACK.has(message.method);
    const back = isCall && message.id !== null ? calls.takeBack(line, message.id) : null;
    if (back === 'taken') return 'drop';
    if (back === null) return this.#judgeOne(message, line, isOurs);
    const verdict = this.#judgeOne(message, back, true);
    return verdict === 'pass' ? [back] : verdict;
  }

  #judgeOne(message: Message, line: Buffer, isOurs: boolean): Verdict {
    const judgement = this.#guarded(message, line);
    return judgement === 'wait' ? 'wait' : this.#judge(message, line, { judgement, isOurs });
  }

  /** Nothing is passed on before it is known of all members whether they may. */
  #judgeBatch(line: Buffer): Verdict {
    const judgements = membersOf(line).map((member) => this.#guarded(readMessage(member), member));
    const known = judgements.filter((judgement) => judgement !== 'wait');
    if (known.length < judgements.length) return 'wait';
    const ahead = known.values();
    return judgeBatch(line, (member) => {
      const judgement = ahead.next().value ?? 'pass';
      return this.#judge(readMessage(member), member, { judgement, isOurs: false });
    });
  }

  /** There is nobody to guard where all is refused. What the host says of its roots in a call holds for that call. */
  #guarded(message: Message, line: Buffer): Judgement | Asking {
    const { guard, trips } = this.#options;
    if (typeof this.gate === 'object') return 'pass';
    if (message.kind === 'call' && MAY_ASK_BACK.has(message.method) && !trips.hear(line, message.method)) return 'wait';
    return guard.consider(line, message);
  }

  #judge(
    message: Message,
    line: Buffer,
    { judgement, isOurs }: { judgement: Exclude<Judgement, 'wait'> | Asking; isOurs: boolean },
  ): Exclude<Verdict, 'wait'> {
    if (typeof this.gate === 'object') return this.#refuse(message, line, this.gate);
    if (judgement !== 'pass')
      return 'wants' in judgement ? this.#ask(message, line, judgement) : this.#holdBack(judgement.reply);
    switch (message.kind) {
      case 'call':
        return message.id === null
          ? this.#judgeNotification(message.method, line)
          : this.#judgeRequest(message.method, message.id, line, isOurs);
      case 'answer':
        return this.#judgeAnswer(message.id, line);
      // A server may make something of it; a batch within a batch is nothing of ours.
      case 'batch':
      case 'noise':
        return 'pass';
    }
  }

  /** It waits beside all that passes. Of too many that wait the guard has another word, now as a moment ago. */
  #ask(message: Message, line: Buffer, { wants }: Asking): 'drop' {
    const { calls, guard } = this.#options;
    if (message.kind === 'call' && message.id !== null) {
      const { method, id } = message;
      if (calls.add(line, { method, id }, wants)) return 'drop';
    }
    const judgement = guard.judge(line, message, 'too-many');
    return this.#holdBack(typeof judgement === 'string' ? null : judgement.reply);
  }

  #judgeRequest(method: string, id: string, line: Buffer, isOurs: boolean): Exclude<Verdict, 'wait'> {
    const { open, handshake, guard, announce, onInitialize, onEra } = this.#options;
    open.add(id);
    guard.answers.expect(method, id);
    if (method === 'initialize') {
      const announcement = announceRoots(line, announce());
      handshake.noteInitialize(announcement.line, id);
      onEra('legacy');
      onInitialize(announcement);
      return [announcement.line];
    }
    const modern = readModernRequest(line);
    if (modern !== null) return this.#judgeModern(modern, { method, id, isOurs });
    if (SETTINGS.has(method)) handshake.noteSetting(method, line);
    return 'pass';
  }

  /** Offers roots in it, and keeps what the server may have to be asked again. */
  #judgeModern(
    request: ModernRequest,
    { method, id, isOurs }: { method: string; id: string; isOurs: boolean },
  ): readonly Uint8Array[] {
    const { trips, handshake, open, offersRoots, onEra } = this.#options;
    this.#isModern = true;
    onEra('modern');
    const offers = offersRoots();
    const answers = MAY_ASK_BACK.has(method) ? trips.begin(keepRequest(request, isOurs), { method, id, offers }) : [];
    const line = applyEdits(request.line, [...offerInRequest(request, offers), ...answers]);
    if (method === LISTEN) {
      open.settle(id);
      open.addLasting(id);
      handshake.noteListening(id, Buffer.concat(line));
    }
    return line;
  }

  #judgeNotification(method: string, line: Buffer): Exclude<Verdict, 'wait'> {
    const { handshake, onInitialized, onRootsChanged } = this.#options;
    switch (method) {
      case INITIALIZED:
        handshake.noteInitialized(line);
        onInitialized();
        return 'pass';
      case METHOD.rootsChanged:
        onRootsChanged();
        return 'drop';
      case CANCELLED:
        return this.#judgeCancelled(line);
      default:
        return 'pass';
    }
  }

  /** The server may have the request under another id. */
  #judgeCancelled(line: Buffer): Exclude<Verdict, 'wait'> {
    const { open, trips, handshake, calls } = this.#options;
    const id = cancelledId(line);
    if (calls.cancel(id)) return 'drop';
    const serverId = trips.cancel(id);
    handshake.stopListening(id);
    open.settle(id);
    return serverId === id ? 'pass' : withCancelledId(line, serverId);
  }

  #judgeAnswer(id: string | null, line: Buffer): Exclude<Verdict, 'wait'> {
    const { ids, own, fromServer } = this.#options;
    if (id !== null && ids.has(id)) {
      own.answer(id, line);
      return 'drop';
    }
    return fromServer.takeStale(id) ? 'drop' : 'pass';
  }

  #holdBack(reply: string | null): 'drop' {
    if (reply !== null) this.#options.host.insert(reply);
    return 'drop';
  }

  #refuse(message: Message, line: Buffer, { error, isForNow }: Refusing): 'drop' {
    const { host, onRefused } = this.#options;
    if (message.kind === 'call' && message.id !== null) {
      // A host that asks whether the other end still lives keeps its session.
      if (isForNow && message.method === 'ping') host.insert(`{"jsonrpc":"2.0","id":${message.id},"result":{}}`);
      else host.insert(errorLine(message.id, error));
      onRefused();
    } else if (isForNow) this.#remember(message, line);
    return 'drop';
  }

  /** What is no request, heard in the absence of a server. */
  #remember(message: Message, line: Buffer): void {
    if (message.kind === 'call') this.#judgeNotification(message.method, line);
    if (message.kind === 'answer') this.#judgeAnswer(message.id, line);
  }
}
