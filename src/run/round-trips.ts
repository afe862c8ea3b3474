// Requests of the modern era that the server may answer by questions. Those for roots are answered here: the request is sent
// again under an id of ours, and the host sees only what comes in the end, under its own. Where the server asks other things
// too, these go to the host, and our answers join its own when it asks again.
//
// A host that offers roots is asked for them when the server asks, as it would be without us: there is no other way to ask it
// anything in this era. What reaches the server is the policy, narrowed by that.

import type { Timer } from '../client/timer.ts';
import { RPC, type RpcError } from '../core/protocol.ts';
import { withId } from './announce.ts';
import type { Guard } from './guard/guard.ts';
import { type Questions, readQuestions, removeQuestions } from './input-required.ts';
import type { Verdict } from './line-flow.ts';
import type { LineWriter } from './line-writer.ts';
import {
  addResponses,
  type ModernRequest,
  paramOf,
  readModernRequest,
  retryRequest,
  rootsResponses,
} from './modern-request.ts';
import { errorLine, type OpenRequests } from './open-requests.ts';
import type { OwnIds, Reply } from './own-requests.ts';
import { ROOTS_OFF } from './roots-channel.ts';
import { applyEdits, type Edit, objectAt, setMember } from './splice.ts';

/** How often one request of the host is sent again. */
const MAX_ROUNDS = 10;
/** Questions that the host has and may answer by asking again; it need not. */
const MAX_ASKED = 256;
/** How long a host that offers roots may take to say which. */
const HOST_DEADLINE_MS = 5_000;

const NO_ROOTS = '{"roots":[]}';
const TOO_MANY_ROUNDS = {
  code: RPC.internal,
  message: `The server still asks for roots after it was told them ${MAX_ROUNDS} times`,
};
const SILENT = 'The host offers roots, but does not list them when it is asked: what is known without it holds';

/** What is told in answer to a question for roots. */
export interface RootsTeller {
  /** The result of `roots/list` as a JSON text; null: there is none, and the session ends. */
  answerInside(): string | null;
  /** The same for a server that has not asked. */
  listInside(): string | null;
}

/** The roots of the host, in this era. */
export interface HostRootsInside {
  /** Do they count? */
  readonly areWanted: () => boolean;
  readonly onTold: (reply: Reply) => void;
  /** Does it take a moment to find out where those lie that it has told? */
  readonly areSought: () => boolean;
  readonly warn: (sentence: string) => void;
}

export interface RoundTripsOptions {
  /** Those of our requests to the server. */
  readonly ids: OwnIds;
  readonly open: OpenRequests;
  readonly host: LineWriter;
  readonly server: LineWriter;
  readonly timer: Timer;
  readonly guard: Guard;
  readonly roots: () => RootsTeller | null;
  readonly hostRoots: HostRootsInside;
}

/** One request of the host, until it has its answer. */
interface Trip {
  /** As the host wrote it, without its line end; kept once, however often it is sent. */
  readonly request: ModernRequest;
  readonly method: string;
  readonly hostId: string;
  /** Were roots offered in it? */
  readonly offers: boolean;
  readonly round: number;
}

/** What the host was asked, and will answer in a new request. */
interface Asked {
  readonly method: string;
  /** Which tool, prompt or resource. */
  readonly subject: unknown;
  readonly questions: Questions;
  /** Is the host still to say its roots? */
  readonly hostAnswers: boolean;
  readonly cancelDeadline: () => void;
}

export class RoundTrips {
  readonly #options: RoundTripsOptions;
  /** By the id (a JSON text) under which the server has the request. */
  readonly #open = new Map<string, Trip>();
  #asked: Asked[] = [];
  /** Those that go on when the guard knows more. */
  #waiting: { readonly trip: Trip; readonly questions: Questions }[] = [];
  #isHostSilent = false;

  constructor(options: RoundTripsOptions) {
    this.#options = options;
  }

  /** A request passes that may come back with questions; what is to be changed in it. `line` is ours to keep. */
  begin(
    request: ModernRequest,
    { method, id, offers }: { method: string; id: string; offers: boolean },
  ): readonly Edit[] {
    const merged = this.#answerFor(request, method);
    this.#open.set(id, { request, method, hostId: id, offers, round: 0 });
    return merged;
  }

  /** Where the host says its roots in a request, they hold for that one already; false: it waits until they are known. */
  hear(line: Buffer, method: string): boolean {
    this.#hearRoots(line, method);
    return !this.#options.hostRoots.areSought();
  }

  #hearRoots(line: Buffer, method: string): void {
    if (!this.#asked.some(({ hostAnswers }) => hostAnswers)) return;
    const request = readModernRequest(line);
    const index = request === null ? -1 : this.#answered(request, method);
    const asked = this.#asked[index];
    if (request === null || !asked?.hostAnswers) return;
    asked.cancelDeadline();
    this.#isHostSilent = false;
    this.#asked[index] = { ...asked, hostAnswers: false };
    const responses = paramOf(request, 'inputResponses') as Readonly<Record<string, unknown>>;
    this.#options.hostRoots.onTold({ result: responses[asked.questions.roots[0] ?? ''] });
  }

  /** May an answer with this id (a JSON text; null: not known yet) hold questions, or need another id? */
  concerns(id: string | null): boolean {
    return id === null ? this.#open.size > 0 : this.#open.has(id);
  }

  /** Must an answer be rewritten whose id is not known yet? */
  get hasRetries(): boolean {
    return [...this.#open.values()].some(({ round }) => round > 0);
  }

  /** Judges an answer of the server; null: it has no questions, and is under the host's own id. */
  judge(id: string, line: Buffer): Exclude<Verdict, 'wait'> | null {
    const trip = this.#open.get(id);
    if (trip === undefined) return null;
    this.#open.delete(id);
    const questions = readQuestions(line);
    if (questions === null || questions.roots.length === 0) return this.#finish(trip, line);
    if (!trip.offers) return this.#fail(trip, ROOTS_OFF);
    if (this.#mustHostAnswer(trip)) return this.#askHost(trip, { line, questions, hostAnswers: true });
    return questions.others.length === 0
      ? this.#retry(trip, questions)
      : this.#askHost(trip, { line, questions, hostAnswers: false });
  }

  /** The request has its answer, which passed as it came. */
  settle(id: string): void {
    this.#open.delete(id);
  }

  /** The guard knows more. */
  resume(): void {
    if (this.#waiting.length === 0) return;
    for (const { trip, questions } of this.#waiting.splice(0)) this.#retry(trip, questions);
    if (this.#waiting.length === 0) this.#options.guard.lineIsDone();
  }

  /** The host gives up a request; the id under which the server has it. */
  cancel(hostId: string): string {
    this.#waiting = this.#waiting.filter(({ trip }) => trip.hostId !== hostId);
    for (const [id, trip] of this.#open) {
      if (trip.hostId !== hostId) continue;
      this.#open.delete(id);
      return id;
    }
    return hostId;
  }

  /** The server gives up a request that it has under an id of ours: the host's id of it. Of any other id, that one. */
  giveUp(id: string): string {
    const trip = this.#open.get(id);
    if (trip === undefined || trip.hostId === id) return id;
    this.#open.delete(id);
    return trip.hostId;
  }

  /** The server is gone, and its requests are answered in its place. */
  abandon(): void {
    this.#open.clear();
    this.#waiting = [];
  }

  #finish(trip: Trip, line: Buffer): Exclude<Verdict, 'wait'> | null {
    if (trip.round === 0) return null;
    this.#options.open.settle(trip.hostId);
    return withId(line, trip.hostId);
  }

  #fail({ hostId }: Trip, error: RpcError): 'drop' {
    const { host, open } = this.#options;
    host.insert(errorLine(hostId, error));
    open.settle(hostId);
    return 'drop';
  }

  /** Judged anew, since what may be used can be less by now than when the host asked. */
  #retry(trip: Trip, questions: Questions): 'drop' {
    const { guard, host, open } = this.#options;
    if (trip.round === MAX_ROUNDS) return this.#fail(trip, TOO_MANY_ROUNDS);
    const { method, hostId: id, request } = trip;
    const judgement = guard.judge(request.line, { kind: 'call', method, id });
    if (judgement === 'pass') this.#sendAgain(trip, questions);
    else if (judgement === 'wait') this.#waiting.push({ trip, questions });
    else {
      if (judgement.reply !== null) host.insert(judgement.reply);
      open.settle(id);
    }
    return 'drop';
  }

  #sendAgain(trip: Trip, { roots, state }: Questions): void {
    const { ids, server } = this.#options;
    const list = this.#options.roots()?.answerInside() ?? null;
    if (list === null) return;
    const id = ids.next();
    const responses = `{${roots.map((key) => `${JSON.stringify(key)}:${list}`).join(',')}}`;
    server.insert(retryRequest(trip.request, { id, offers: trip.offers, responses, state: state?.json ?? null }));
    this.#open.set(id, { ...trip, round: trip.round + 1 });
  }

  /** A host that does not answer is not asked again, until it does. */
  #mustHostAnswer({ request }: Trip): boolean {
    return request.hostHasRoots && !this.#isHostSilent && this.#options.hostRoots.areWanted();
  }

  #askHost(
    trip: Trip,
    { line, questions, hostAnswers }: { line: Buffer; questions: Questions; hostAnswers: boolean },
  ): readonly Uint8Array[] {
    const { request, method, hostId } = trip;
    const asksOnlyRoots = hostAnswers && questions.others.length === 0;
    this.#asked.push({
      method,
      subject: subjectOf(request),
      questions,
      hostAnswers,
      cancelDeadline: asksOnlyRoots ? this.#expectRoots() : () => undefined,
    });
    for (const { cancelDeadline } of this.#asked.splice(0, this.#asked.length - MAX_ASKED)) cancelDeadline();
    this.#options.open.settle(hostId);
    return applyEdits(line, [
      setMember(line, objectAt(line), { key: 'id', json: hostId }),
      ...(hostAnswers ? [] : removeQuestions(line, questions.roots)),
    ]);
  }

  /** Without other questions nobody is waited for: a host that knows its roots says them at once. */
  #expectRoots(): () => void {
    const { timer, hostRoots } = this.#options;
    return timer(HOST_DEADLINE_MS, () => {
      this.#isHostSilent = true;
      hostRoots.warn(SILENT);
    });
  }

  /** What we have to say in a request by which the host answers questions. */
  #answerFor(request: ModernRequest, method: string): readonly Edit[] {
    const index = this.#answered(request, method);
    const [asked] = index === -1 ? [] : this.#asked.splice(index, 1);
    // Whatever else the host says its roots are, asked or not, says it over our head.
    const keys = new Set([...(asked?.questions.roots ?? []), ...rootsResponses(request)]);
    if (keys.size === 0) return [];
    const channel = this.#options.roots();
    const list = (asked === undefined ? channel?.listInside() : channel?.answerInside()) ?? NO_ROOTS;
    return addResponses(request, new Map([...keys].map((key) => [key, list])));
  }

  /** Which of the questions that the host has are answered by a request; -1: none. */
  #answered(request: ModernRequest, method: string): number {
    if (this.#asked.length === 0) return -1;
    const responses = paramOf(request, 'inputResponses');
    if (typeof responses !== 'object' || responses === null) return -1;
    const state = paramOf(request, 'requestState') ?? null;
    const subject = subjectOf(request);
    return this.#asked.findIndex(
      (asked) =>
        asked.method === method &&
        asked.subject === subject &&
        (asked.questions.state?.value ?? null) === state &&
        asked.questions.others.every((key) => Object.hasOwn(responses, key)),
    );
  }
}

/** Which tool, prompt or resource a request is about. */
function subjectOf(request: ModernRequest): unknown {
  return paramOf(request, 'name') ?? paramOf(request, 'uri');
}
