// server -> host. Requests about roots are answered here; all else passes as it is.

import { METHOD, RPC } from '../core/protocol.ts';
import { judgeBatch } from './batch.ts';
import { CANCELLED, cancelledId, withCancelledId } from './cancelled.ts';
import { ASKS_PERSON } from './elicitation.ts';
import type { Guard } from './guard/guard.ts';
import type { Handshake } from './handshake.ts';
import { type HeldQuestions, PERSON_IS_BUSY } from './held-questions.ts';
import { mayAsk, readQuestions } from './input-required.ts';
import type { Judge, Opening, Verdict } from './line-flow.ts';
import type { LineWriter } from './line-writer.ts';
import { type Message, parseMessage, readMessage } from './message.ts';
import { readHead, readTailId } from './message-edges.ts';
import type { Notices } from './notices.ts';
import { errorLine, type OpenRequests } from './open-requests.ts';
import type { OwnIds, OwnRequests } from './own-requests.ts';
import type { Person } from './person.ts';
import type { RootsChannel } from './roots-channel.ts';
import type { RoundTrips } from './round-trips.ts';
import type { ServerRequests } from './server-requests.ts';

const ID_IN_USE = { code: RPC.invalidRequest, message: 'The id of this request is in use' };
const HEADER = /^Content-(?:Length|Type):/i;

export interface ServerMessagesOptions {
  readonly host: LineWriter;
  readonly server: LineWriter;
  /** Those of our requests to the host, which no server gets to see, and those to the server. */
  readonly ids: { readonly toHost: OwnIds; readonly toServer: OwnIds };
  /** Our requests to the server. */
  readonly own: OwnRequests;
  readonly open: OpenRequests;
  readonly trips: RoundTrips;
  readonly fromServer: ServerRequests;
  readonly handshake: Handshake;
  readonly guard: Guard;
  readonly channel: RootsChannel;
  readonly person: Person;
  readonly held: HeldQuestions;
  readonly notices: Notices;
  /** The server frames its messages by headers: no host understands that. */
  readonly onHeaders: () => void;
  readonly onEnd: () => void;
  readonly onTooLong: () => void;
}

export class ServerMessages implements Judge {
  readonly #options: ServerMessagesOptions;
  #hasSpoken = false;

  constructor(options: ServerMessagesOptions) {
    this.#options = options;
  }

  line(line: Buffer): Verdict {
    const message = readServerMessage(line);
    if (message.kind === 'batch') {
      return judgeBatch(line, (member) => this.#judge(readServerMessage(member), member));
    }
    const { answers } = this.#options.guard;
    return message.kind === 'answer' && !answers.isReady(message.id, line) ? 'wait' : this.#judge(message, line);
  }

  opening(head: Buffer): Opening {
    const { ids, own, open, handshake, guard, trips } = this.#options;
    const read = readHead(head);
    if (read === null || read.method === METHOD.listRoots || ids.toServer.has(read.id)) return 'hold';
    const { method, id } = read;
    // A second `method` may come last: a call is judged by all of its line.
    if (method !== null) return 'hold';
    if (id === null && (own.hasOpen || trips.hasRetries)) return 'hold';
    if (guard.answers.concerns(id) || (trips.concerns(id) && mayAsk(head))) return 'hold';
    this.#hasSpoken = true;
    return (tail) => {
      const finalId = id ?? readTailId(tail);
      if (finalId === null) return;
      handshake.noteAnswer(finalId);
      trips.settle(finalId);
      open.settle(finalId);
    };
  }

  ended(): void {
    this.#options.onEnd();
  }

  tooLong(): void {
    this.#options.onTooLong();
  }

  #judge(message: Message, line: Buffer): Exclude<Verdict, 'wait'> {
    switch (message.kind) {
      case 'call':
        this.#hasSpoken = true;
        return this.#judgeCall(message.method, message.id, line);
      case 'answer':
        this.#hasSpoken = true;
        return this.#judgeAnswer(message.id, line);
      case 'batch':
        return 'pass';
      case 'noise':
        return this.#judgeNoise(line);
    }
  }

  #judgeCall(method: string, id: string | null, line: Buffer): Exclude<Verdict, 'wait'> {
    const { ids, own, trips, server, channel, fromServer, person } = this.#options;
    const isOurs = ids.toHost.has(id) || own.isOpen(id) || (ids.toServer.has(id) && trips.concerns(id));
    if (isOurs) {
      server.insert(errorLine(id ?? 'null', ID_IN_USE));
      return 'drop';
    }
    if (method === METHOD.listRoots) {
      if (id !== null) channel.answer(id);
      return 'drop';
    }
    if (id === null) return method === CANCELLED ? this.#judgeCancelled(line) : 'pass';
    if (person.isAsked && ASKS_PERSON.has(method)) return this.#hold(id, line);
    fromServer.add(id);
    return 'pass';
  }

  #hold(id: string, line: Buffer): 'drop' {
    const { held, server, host, fromServer } = this.#options;
    const bare = bareLine(line);
    const isHeld = held.hold(requestName(id), bare.length, () => {
      fromServer.add(id);
      host.insert([bare]);
    });
    if (!isHeld) server.insert(errorLine(id, PERSON_IS_BUSY));
    return 'drop';
  }

  /** A result that asks the person; false: it need not wait, or too many do. */
  #holdAnswer(id: string, line: Buffer): boolean {
    const { person, trips, held, host } = this.#options;
    if (!person.isAsked || !trips.concerns(id) || (readQuestions(line)?.others.length ?? 0) === 0) return false;
    const bare = bareLine(line);
    return held.hold(`answer ${id}`, bare.length, () => {
      const verdict = this.#judgeAnswer(id, bare);
      if (verdict !== 'drop') host.insert(verdict === 'pass' ? [bare] : verdict);
    });
  }

  /** The server gives up a request of the host, or a question of its own. */
  #judgeCancelled(line: Buffer): Exclude<Verdict, 'wait'> {
    if (parseMessage(line).kind !== 'call') return 'pass';
    const { ids, held, trips, open, handshake } = this.#options;
    const id = cancelledId(line);
    if (ids.toHost.has(id) || held.cancel(requestName(id))) return 'drop';
    const hostId = trips.giveUp(id);
    if (hostId === id && !handshake.stopListening(id)) return 'pass';
    open.settle(hostId);
    return hostId === id ? 'pass' : withCancelledId(line, hostId);
  }

  #judgeAnswer(id: string | null, line: Buffer): Exclude<Verdict, 'wait'> {
    const { ids, own, open, handshake, guard, trips } = this.#options;
    if (id === null) return 'pass';
    if (this.#holdAnswer(id, line)) return 'drop';
    const judged = trips.judge(id, line);
    if (judged !== null) return judged;
    if (ids.toServer.has(id)) {
      own.answer(id, line);
      return 'drop';
    }
    handshake.noteAnswer(id);
    open.settle(id);
    return guard.answers.judge(id, line) ?? 'pass';
  }

  #judgeNoise(line: Buffer): Exclude<Verdict, 'wait'> {
    const { notices, onHeaders } = this.#options;
    if (line.toString('latin1').trim() !== '') notices.noise(line);
    if (!this.#hasSpoken && HEADER.test(line.toString('latin1', 0, 20))) onHeaders();
    return 'drop';
  }
}

/** As it is held. */
function requestName(id: string): string {
  return `request ${id}`;
}

/** Without its line end, and of bytes that nobody else has. */
function bareLine(line: Buffer): Buffer {
  return Buffer.from(line.subarray(0, line.lastIndexOf('}') + 1));
}

/** Of several `method` members any may be the one that the host reads: one that asks for roots is taken at its word. */
function readServerMessage(line: Buffer): Message {
  const message = readMessage(line);
  if (message.kind === 'noise' || !mayAskForRoots(message, line)) return message;
  const parsed = parseMessage(line);
  return parsed.kind === 'call' && parsed.method === METHOD.listRoots ? parsed : message;
}

/** The method's name may stand in the line as it is or, in a call, behind an escape. */
function mayAskForRoots({ kind }: Message, line: Buffer): boolean {
  if (line.includes(METHOD.listRoots)) return true;
  return kind === 'call' && (line.includes('\\/') || line.includes('\\u00'));
}
