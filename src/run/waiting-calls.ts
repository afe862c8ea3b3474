// Calls that wait for a person. They stand beside what passes: what the host says meanwhile goes on, and each of them comes
// back to be judged once it is decided, those that came first before the others.
//
// INVARIANT: a call is passed on by what holds then. That a person has said yes opens nothing by itself.

import type { AccessDecided, AccessReply, AccessRequest, CallEnded, RpcError } from '../core/protocol.ts';
import type { NotGiven } from './guard/held-places.ts';
import type { LineWriter } from './line-writer.ts';
import { errorLine } from './open-requests.ts';

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
}

export interface WaitingCallsOptions {
  readonly asks: Asks;
  readonly host: LineWriter;
  /** Judges a call anew, passes it on or answers it. `notGiven`: why nobody has given what it names. */
  readonly goOn: (line: Buffer, notGiven: NotGiven | null) => 'passed' | 'answered' | 'later';
}

interface WaitingCall {
  /** Without its line end. */
  readonly line: Buffer;
  /** A JSON text. */
  readonly hostId: string;
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
  add(line: Buffer, hostId: string, wants: AccessRequest['wants']): boolean {
    const bare = line.subarray(0, line.lastIndexOf('}') + 1);
    if (this.#calls.size >= MAX_CALLS || this.#bytes + bare.length > MAX_BYTES) return false;
    this.#last += 1;
    this.#bytes += bare.length;
    this.#calls.set(this.#last, { line: Buffer.from(bare), hostId, decided: null });
    void this.#ask({ call: this.#last, wants });
    return true;
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
      if (decided === null || !this.#options.asks.holds(decided.serial)) continue;
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
    this.#giveUp('no-answer');
  }

  /** Answers all in the server's place. */
  fail(error: RpcError): void {
    for (const [call, { hostId }] of this.#calls) {
      this.#options.host.insert(errorLine(hostId, error));
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
    for (const question of reply?.questions ?? []) asks.onAsked(question);
    if (reply === null) this.resume();
    else this.decided({ call, ...reply });
  }

  #giveUp(notGiven: NotGiven): void {
    for (const waiting of this.#calls.values()) waiting.decided ??= { notGiven, serial: 0 };
    this.resume();
  }

  #remove(call: number): void {
    this.#bytes -= this.#calls.get(call)?.line.length ?? 0;
    this.#calls.delete(call);
  }
}
