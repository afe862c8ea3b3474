// One connection to the peers' socket, from its first message to its close (docs/protocol.md). It answers `roots/list`
// itself from the last published view; what the view is, the authority decides.

import type { Socket } from 'node:net';
import type { RootsError } from '../core/errors.ts';
import { LOG_EVENTS, type LogEvent } from '../core/log-event.ts';
import type { Observed } from '../core/peer.ts';
import {
  type AccessDecided,
  ATTACH_VERSION,
  type AttachParams,
  areModern,
  ENDPOINT_NAME,
  type HostQuestion,
  type HostQuestions,
  type Id,
  METHOD,
  opensEndpoint,
  RPC,
} from '../core/protocol.ts';
import type { ToldView } from '../core/told-view.ts';
import type { SharedSlices } from '../disk/shared-slices.ts';
import type { Log } from '../system/log.ts';
import { readAccessRequest, readCallEnded } from './access-params.ts';
import type { AttachedSession, Attachment, Authority, EndpointConversation, SessionState } from './authority.ts';
import { type Fault, JsonLines, type JsonLinesOptions } from './json-lines.ts';
import type { Notice } from './line-writer.ts';
import {
  errorReply,
  isBug,
  type Message,
  methodNotFound,
  notification,
  notificationStart,
  type Params,
  Refusal,
  readMessage,
  resultReply,
  toRpcError,
} from './message.ts';
import { faultError, firstMessageError } from './peer-errors.ts';
import type { PeerFacts } from './peer-facts.ts';
import { readAck, readAttachParams, readEndpointParams, readHostRootsParams } from './peer-params.ts';
import { readHostAnswer, readRefusedCall, readSessionReport } from './report-params.ts';

export interface PeerSessionOptions extends JsonLinesOptions {
  readonly id: string;
  /** ms since the epoch */
  readonly since: number;
  /** In which it is let in, with others that come. */
  readonly slices: SharedSlices;
  readonly authority: Authority;
  readonly log: Log;
  readonly facts: PeerFacts;
  /** Asked at the first message: why this peer is not served, or null. */
  readonly refusal: () => RootsError | null;
  readonly onAttach: (session: PeerSession) => void;
  readonly onClose: (session: PeerSession) => void;
}

/** Said by notification; a request says it too. */
const TOLD: ReadonlySet<string> = new Set([
  METHOD.ack,
  METHOD.hostRoots,
  METHOD.report,
  METHOD.refused,
  METHOD.callEnded,
]);

type Request = Extract<Message, { kind: 'request' }>;

const LIST_CHANGED: Notice = { own: '', shared: `${notification(METHOD.rootsChanged)}\n` };
const VIEW_START = notificationStart(METHOD.view);
const QUESTIONS_START = notificationStart(METHOD.questions);

export class PeerSession implements AttachedSession {
  readonly id: string;
  readonly since: number;
  readonly #options: PeerSessionOptions;
  readonly #lines: JsonLines;
  /** The view that it has, whether it has been told yet or not; null until it is attached. */
  #view: ToldView | null = null;
  #serial = 1;
  #noticeIsDue = false;
  #questions: HostQuestions = { questions: [] };
  #questionsAreDue = false;
  #watching = false;
  #listed = false;
  #told: number | null = null;
  #era: 'legacy' | 'modern' = 'legacy';
  #isMcpClient = false;
  /** Of an MCP client; null: not loaded yet. */
  #endpoint: EndpointConversation | null = null;
  #isClosed = false;

  constructor(socket: Socket, options: PeerSessionOptions) {
    this.id = options.id;
    this.since = options.since;
    this.#options = options;
    this.#lines = new JsonLines(socket, options, {
      onMessage: (value) => this.#receive(readMessage(value)),
      onFault: (fault) => this.#fault(fault),
      onEnd: () => this.close(),
      onClose: () => this.#closed(),
      nextNotice: () => this.#nextNotice(),
    });
  }

  get state(): SessionState {
    const { waitingBytes } = this.#lines;
    return {
      era: this.#era,
      watching: this.#watching,
      listed: this.#listed,
      told: this.#told,
      waitingBytes,
    };
  }

  observe(): Observed | null {
    return this.#options.facts.confirm();
  }

  ask(questions: readonly HostQuestion[]): void {
    this.#questions = { questions };
    this.#questionsAreDue = true;
    this.#lines.notify();
  }

  /**
   * The view from now on. A watching peer gets it, another one hears that its list has changed if it has; a peer that
   * does not read gets one notice, of the newest view, when it reads again.
   */
  publish(view: ToldView, { serial, listChanged }: { readonly serial: number; readonly listChanged: boolean }): void {
    const hadList = this.#announcesRoots;
    this.#view = view;
    this.#serial = serial;
    const isOther = hadList !== this.#announcesRoots || (listChanged && hadList);
    // An MCP client hears of it in its own words.
    if (this.#isMcpClient || (!this.#watching && !isOther)) return;
    this.#noticeIsDue = true;
    this.#lines.notify();
  }

  decided(decided: AccessDecided): void {
    this.#lines.send(`${notificationStart(METHOD.decided)}${JSON.stringify(decided)}}`);
  }

  /** Ends the session when what waits has been sent. */
  close(): void {
    this.#lines.end();
  }

  /** Ends the session now. */
  destroy(): void {
    this.#lines.destroy();
  }

  whenClosed(): Promise<void> {
    return this.#lines.whenClosed();
  }

  /** Does the policy let this peer have the list? An edit of it may change that at any time. */
  get #announcesRoots(): boolean {
    return this.#view?.plan.roots ?? false;
  }

  #receive(message: Message): void {
    if (this.#view === null) this.#open(message);
    else if (this.#endpoint !== null) this.#converse(this.#endpoint, message);
    else this.#serve(message);
  }

  /** The first message decides what the peer is. */
  #open(message: Message): void {
    const refusal = this.#options.refusal();
    const id = 'id' in message ? message.id : null;
    if (refusal !== null) this.#endWith(id, refusal, LOG_EVENTS.refused);
    else if (message.kind === 'request' && message.method === METHOD.attach) this.#attach(message);
    else if (message.kind === 'request' && message.method === METHOD.endpoint) this.#introduce(message);
    else if (message.kind === 'request' && opensEndpoint(message)) this.#openEndpoint(message);
    else this.#endWith(id, firstMessageError(message), LOG_EVENTS.peerFault);
  }

  #attach({ id, params }: Request): void {
    const answer = ({ peer, told }: Attachment): void => {
      // What it claims is kept as long as it is open.
      this.#lines.keep(JSON.stringify(params).length);
      const own = { session: JSON.stringify(this.id), peer: JSON.stringify(peer) };
      this.#lines.send(resultReply(id, told.attachJson(own)));
    };
    void this.#admit(id, () => readAttachParams(params), answer);
  }

  /** An MCP client comes by way of `rootsd mcp`, which says who it is first. */
  #introduce({ id, params }: Request): void {
    const answer = ({ peer }: Attachment): void => {
      this.#lines.send(resultReply(id, JSON.stringify({ session: this.id, peer })));
      void this.#beginEndpoint(null);
    };
    void this.#admit(id, () => readEndpointParams(params), answer);
  }

  #openEndpoint(first: Request): void {
    const params = { version: ATTACH_VERSION, server: ENDPOINT_NAME, host: null };
    void this.#admit(
      first.id,
      () => params,
      () => void this.#beginEndpoint(first),
    );
  }

  /** Makes it a session, or tells it why not; nothing more is read before. Never rejects. */
  async #admit(id: Id, read: () => AttachParams, answer: (attached: Attachment) => void): Promise<void> {
    const { authority, facts, slices, onAttach } = this.#options;
    this.#lines.hold();
    try {
      const steps = authority.attach(read(), facts.confirm(), this);
      facts.close();
      onAttach(this);
      await slices.run(this.#attachInSteps(steps, answer), () => this.#isClosed);
    } catch (error) {
      // Wrong parameters can be put right: another version, another name.
      if (error instanceof Refusal) this.#lines.send(errorReply(id, error.error));
      else this.#endWith(id, error, LOG_EVENTS.refused);
    }
    this.#lines.release();
  }

  /** Answered in the last step of all: what is published after it is told after the answer. */
  *#attachInSteps(steps: Generator<void, Attachment>, answer: (attached: Attachment) => void): Generator<void> {
    const attached = yield* steps;
    this.#view = attached.told;
    answer(attached);
  }

  /** What serves MCP clients is loaded when the first one comes; nothing more is read before. */
  async #beginEndpoint(first: Request | null): Promise<void> {
    this.#isMcpClient = true;
    const lines = this.#lines;
    lines.hold();
    try {
      const endpoint = await this.#options.authority.openEndpoint(this, {
        send: (json) => lines.send(json),
        hold: () => lines.hold(),
        release: () => lines.release(),
        onClose: () => lines.end(),
      });
      this.#endpoint = endpoint;
      if (this.#isClosed) endpoint.closed();
      else if (first !== null) this.#converse(endpoint, first);
    } catch (error) {
      this.#endWith(first?.id ?? null, error, LOG_EVENTS.bug);
    }
    lines.release();
  }

  #converse(endpoint: EndpointConversation, message: Message): void {
    if (message.kind === 'invalid') {
      this.#lines.send(errorReply(message.id, message.error));
      return;
    }
    // We ask nothing, so nothing is an answer.
    if (message.kind === 'response') return;
    if (areModern(message.params)) this.#era = 'modern';
    const { kind, ...rest } = message;
    endpoint.receive({ jsonrpc: '2.0', ...rest });
  }

  #serve(message: Message): void {
    switch (message.kind) {
      case 'invalid':
        this.#lines.send(errorReply(message.id, message.error));
        return;
      case 'request':
        if (message.method === METHOD.answer) void this.#answerOfHost(message);
        else this.#lines.send(this.#reply(message));
        return;
      case 'notification':
        if (TOLD.has(message.method)) this.#reply({ ...message, id: '' });
        return;
      case 'response':
        return;
    }
  }

  #reply({ id, method, params }: { readonly id: Id; readonly method: string; readonly params: Params }): string {
    try {
      return resultReply(id, this.#answer(method, params));
    } catch (error) {
      if (isBug(error)) this.#logBug(error);
      return errorReply(id, toRpcError(error));
    }
  }

  /** What a person has said through the host takes effect first. Never rejects. */
  async #answerOfHost({ id, params }: Request): Promise<void> {
    try {
      const given = await this.#options.authority.answered(this, readHostAnswer(params));
      this.#lines.send(resultReply(id, JSON.stringify({ given })));
    } catch (error) {
      if (isBug(error)) this.#logBug(error);
      this.#lines.send(errorReply(id, toRpcError(error)));
    }
  }

  #answer(method: string, params: Params): string {
    switch (method) {
      case METHOD.listRoots:
        return this.#list();
      case METHOD.watch:
        return this.#watch();
      case METHOD.ack:
        this.#options.authority.acknowledged(this, readAck(params));
        return '{}';
      case METHOD.hostRoots:
        this.#options.authority.hostRoots(this, readHostRootsParams(params));
        return '{}';
      case METHOD.report:
        this.#options.authority.reported(this, readSessionReport(params));
        return '{}';
      case METHOD.refused:
        this.#options.authority.refused(this, readRefusedCall(params));
        return '{}';
      case METHOD.request:
        return JSON.stringify(this.#options.authority.requested(this, readAccessRequest(params)));
      case METHOD.callEnded:
        this.#options.authority.callEnded(this, readCallEnded(params));
        return '{}';
      case METHOD.ping:
        return '{}';
      case METHOD.attach:
        throw new Refusal({ code: RPC.invalidRequest, message: 'Already attached' });
      default:
        throw methodNotFound('Method not found', 'It is not one of the methods of an attached peer');
    }
  }

  #list(): string {
    if (!this.#announcesRoots)
      throw methodNotFound('Roots not supported', 'The policy says "roots: off" for this server');
    this.#told = this.#serial;
    const list = this.#view?.listJson ?? '';
    this.#listed = true;
    // Whoever has its list may be asked for. The list does not wait for that.
    this.#options.authority.listed(this);
    return list;
  }

  #watch(): string {
    this.#watching = true;
    this.#noticeIsDue = false;
    this.#told = this.#serial;
    return this.#view?.viewJson(this.#serial) ?? '';
  }

  #nextNotice(): Notice | null {
    if (this.#view === null) return null;
    if (!this.#noticeIsDue) return this.#nextQuestions();
    this.#noticeIsDue = false;
    if (!this.#watching) return LIST_CHANGED;
    this.#told = this.#serial;
    const { own, shared } = this.#view.viewLine(this.#serial);
    return { own: VIEW_START + own, shared };
  }

  #nextQuestions(): Notice | null {
    if (!this.#questionsAreDue) return null;
    this.#questionsAreDue = false;
    return { own: QUESTIONS_START, shared: `${JSON.stringify(this.#questions)}}\n` };
  }

  #fault(fault: Fault): void {
    const refusal = this.#view === null ? this.#options.refusal() : null;
    if (refusal !== null) this.#endWith(null, refusal, LOG_EVENTS.refused);
    else this.#endWith(null, faultError(fault, this.#options), LOG_EVENTS.peerFault);
  }

  /** Answers with an error and ends this session; no other one notices. */
  #endWith(id: Id | null, error: unknown, event: LogEvent): void {
    const { log, facts } = this.#options;
    if (isBug(error)) this.#logBug(error);
    else log('warn', event, { session: this.id, uid: facts.uid, error });
    this.#lines.end(errorReply(id, toRpcError(error)));
  }

  #logBug(error: unknown): void {
    this.#options.log('error', LOG_EVENTS.bug, { session: this.id, error });
  }

  #closed(): void {
    const { facts, authority, onClose } = this.#options;
    this.#isClosed = true;
    facts.close();
    this.#endpoint?.closed();
    onClose(this);
    if (this.#view !== null) authority.closed(this);
  }
}
