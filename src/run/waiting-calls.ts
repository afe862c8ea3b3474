// Calls that wait for a person. They stand beside what passes: what the host says meanwhile goes on, and each of them comes
// back to be judged once it is decided, those that came first before the others.
//
// INVARIANT: a call is passed on by what holds then. That a person has said yes opens nothing by itself.
//
// One of the modern era may be answered by the questions that it waits for. Then the host has them, and makes it again.

import {
  type AccessDecided,
  type AccessReply,
  type AccessRequest,
  type CallEnded,
  MAY_ASK_BACK,
  type RpcError,
} from '../core/protocol.ts';
import type { NotGiven } from './guard/held-places.ts';
import type { InsideQuestions } from './inside-questions.ts';
import type { LineWriter } from './line-writer.ts';
import { asInRoundOf, type ModernRequest, readModernRequest, showsFormsInside } from './modern-request.ts';
import { errorLine } from './open-requests.ts';
import type { Person } from './person.ts';

/** More than this at once, or of more bytes together, do not wait. */
const MAX_CALLS = 100;
const MAX_BYTES = 64 * 1024 * 1024;

/** Whoever asks people for us. */
export interface Asks {
  request(request: AccessRequest): Promise<AccessReply>;
  callEnded(ended: CallEnded): void;
  /** Does this view hold here, or a later one? */
  holds(serial: number): boolean;
  /** A person is asked. */
  onAsked(question: AccessReply['questions'][number]): void;
  /** The host shows forms within results. */
  onForms(): void;
}

export interface WaitingCallsOptions {
  readonly asks: Asks;
  readonly host: LineWriter;
  readonly person: Person;
  readonly inside: InsideQuestions;
  /** Judges a call anew, passes it on or answers it. `notGiven`: why nobody has given what it names. */
  readonly goOn: (line: Buffer, notGiven: NotGiven | null) => 'passed' | 'answered' | 'later';
}

interface WaitingCall {
  /** Without its line end. */
  line: Buffer;
  /** A JSON text; null: the host has the questions, under `state`. */
  hostId: string | null;
  /** As the host made it first, where it is of the modern era. */
  readonly request: ModernRequest | null;
  /** Can its result hold questions that the host shows? */
  readonly canAsk: boolean;
  /** What it waits for, by the ids of questions. */
  questions: readonly string[];
  /** A JSON text. */
  state: string | null;
  decided: { readonly notGiven: NotGiven | null; readonly serial: number } | null;
}

export class WaitingCalls {
  readonly #options: WaitingCallsOptions;
  /** By their numbers, the oldest first. */
  readonly #calls = new Map<number, WaitingCall>();
  /** Calls that have passed, by the id of the host: what was given for them may end with them. */
  readonly #passed = new Map<string, number>();
  #last = 0;
  #bytes = 0;
  #whenEmpty: () => void = () => undefined;

  constructor(options: WaitingCallsOptions) {
    this.#options = options;
  }

  /** Takes a call out of what passes, and asks for it. `line` is kept; false: too many wait already. */
  add(line: Buffer, { method, id }: { method: string; id: string }, wants: AccessRequest['wants']): boolean {
    const bare = Buffer.from(bareLine(line));
    while (this.#isFull(bare) && this.#dropOneAtHost());
    if (this.#isFull(bare)) return false;
    const request = readModernRequest(bare);
    const canAsk = request !== null && MAY_ASK_BACK.has(method) && showsFormsInside(request);
    // The daemon must know it before it looks for somebody who sees the question.
    if (canAsk) this.#options.asks.onForms();
    this.#last += 1;
    this.#bytes += bare.length;
    const asked = { questions: [], state: null, decided: null };
    this.#calls.set(this.#last, { line: bare, hostId: id, request, canAsk, ...asked });
    void this.#ask({ call: this.#last, wants });
    return true;
  }

  /** The daemon has other questions for the person: calls that wait for one may ask it. */
  askInside(): void {
    const { person, inside } = this.#options;
    for (const call of this.#calls.values()) {
      const { hostId, questions, canAsk, request, decided } = call;
      if (hostId === null || decided !== null) continue;
      if (!canAsk) {
        if (request !== null) person.leave(questions);
        continue;
      }
      call.state = inside.ask(hostId, questions);
      if (call.state !== null) call.hostId = null;
    }
  }

  /**
   * The host makes a call again, with answers to questions of ours: it is the call that waits, as it was but for that. null: it is
   * no such call. Bytes: it is, and is not known any more; what is left of it, to be judged as any other.
   */
  takeBack(line: Buffer, hostId: string): 'taken' | Buffer | null {
    const { inside } = this.#options;
    const request = readModernRequest(line);
    const state = request === null ? null : inside.stateOf(request);
    if (request === null || state === null) return null;
    const call = [...this.#calls.values()].find((one) => one.state === state);
    const left = asInRoundOf(request, call?.request ?? null);
    if (call === undefined) return left;
    this.#bytes -= call.line.length;
    Object.assign(call, { line: bareLine(left), hostId, state: null });
    this.#bytes += call.line.length;
    inside.take(state, request);
    this.askInside();
    this.resume();
    return 'taken';
  }

  /** The daemon says what has become of a call. */
  decided({ call, state, serial }: AccessDecided): void {
    const waiting = this.#calls.get(call);
    if (waiting === undefined || state === 'asked') return;
    waiting.decided = { notGiven: state === 'granted' ? null : state, serial };
    this.resume();
  }

  /** The daemon is gone: nobody decides any more. */
  daemonIsGone(): void {
    this.#giveUp('no-daemon');
  }

  /** Something has changed: what is decided goes on as far as it may. */
  resume(): void {
    for (const [call, { line, hostId, decided }] of this.#calls) {
      if (decided === null || hostId === null || !this.#options.asks.holds(decided.serial)) continue;
      const outcome = this.#options.goOn(line, decided.notGiven);
      if (outcome === 'later') break;
      this.#remove(call);
      if (outcome === 'passed') this.#passed.set(hostId, call);
      else this.#options.asks.callEnded({ call });
    }
    if (this.#calls.size === 0) this.#whenEmpty();
  }

  /** The host gives up a call; false: none that waits. */
  cancel(hostId: string): boolean {
    const found = [...this.#calls].filter(([, waiting]) => waiting.hostId === hostId);
    for (const [call] of found) {
      this.#remove(call);
      this.#options.asks.callEnded({ call });
    }
    return found.length > 0;
  }

  /** A call has its answer, whoever gave it. */
  settled(hostId: string): void {
    const call = this.#passed.get(hostId);
    if (call === undefined) return;
    this.#passed.delete(hostId);
    this.#options.asks.callEnded({ call });
  }

  /** The host says nothing more: nobody waits for a person. Calls back when those that may pass have. */
  end(done: () => void): void {
    this.#whenEmpty = () => {
      this.#whenEmpty = () => undefined;
      done();
    };
    while (this.#dropOneAtHost());
    this.#giveUp('no-answer');
  }

  /** Answers all in the server's place. */
  fail(error: RpcError): void {
    for (const [call, { hostId }] of this.#calls) {
      if (hostId !== null) this.#options.host.insert(errorLine(hostId, error));
      this.#remove(call);
    }
    this.#whenEmpty();
  }

  async #ask(request: AccessRequest): Promise<void> {
    const { call } = request;
    const { asks } = this.#options;
    const reply = await asks.request(request).catch(() => null);
    const waiting = this.#calls.get(call);
    if (waiting === undefined) return;
    // The daemon is gone, or does not know such calls.
    if (reply === null) waiting.decided ??= { notGiven: 'no-daemon', serial: 0 };
    const questions = reply?.questions ?? [];
    for (const question of questions) asks.onAsked(question);
    waiting.questions = questions.map(({ id }) => id);
    this.#options.person.await(waiting.questions);
    if (reply === null) this.resume();
    else this.decided({ call, ...reply });
    this.askInside();
  }

  #isFull(more: Buffer): boolean {
    return this.#calls.size >= MAX_CALLS || this.#bytes + more.length > MAX_BYTES;
  }

  /** Gives up the oldest call that the host has not made again; false: there is none. */
  #dropOneAtHost(): boolean {
    const [call] = [...this.#calls].find(([, { hostId }]) => hostId === null) ?? [];
    if (call === undefined) return false;
    this.#remove(call);
    this.#options.asks.callEnded({ call });
    return true;
  }

  #giveUp(notGiven: NotGiven): void {
    for (const waiting of this.#calls.values()) waiting.decided ??= { notGiven, serial: 0 };
    this.resume();
  }

  #remove(call: number): void {
    const { line, state } = this.#calls.get(call) ?? {};
    this.#bytes -= line?.length ?? 0;
    if (state) this.#options.inside.forget(state);
    this.#calls.delete(call);
  }
}

/** Without its line end. */
function bareLine(line: Buffer): Buffer {
  return line.subarray(0, line.lastIndexOf('}') + 1);
}
