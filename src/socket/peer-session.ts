// One connection to the peers' socket, from its first message to its close (docs/protocol.md). It answers `roots/list`
// itself from the last published view; what the view is, the authority decides.

import type { Socket } from 'node:net';
import type { RootsError } from '../core/errors.ts';
import { LOG_EVENTS, type LogEvent } from '../core/log-event.ts';
import { type Id, METHOD, opensEndpoint, RPC } from '../core/protocol.ts';
import type { ToldView } from '../core/told-view.ts';
import type { Log } from '../system/log.ts';
import type { AttachedSession, Authority, SessionState } from './authority.ts';
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
import { readAck, readAttachParams, readHostRootsParams } from './peer-params.ts';
import { readRefusedCall, readSessionReport } from './report-params.ts';

export interface PeerSessionOptions extends JsonLinesOptions {
  readonly id: string;
  /** ms since the epoch */
  readonly since: number;
  readonly authority: Authority;
  readonly log: Log;
  readonly facts: PeerFacts;
  /** Asked at the first message: why this peer is not served, or null. */
  readonly refusal: () => RootsError | null;
  readonly onAttach: (session: PeerSession) => void;
  readonly onClose: (session: PeerSession) => void;
}

/** Said by notification; a request says it too. */
const TOLD: ReadonlySet<string> = new Set([METHOD.ack, METHOD.hostRoots, METHOD.report, METHOD.refused]);

type Request = Extract<Message, { kind: 'request' }>;

const LIST_CHANGED: Notice = { own: '', shared: `${notification(METHOD.rootsChanged)}\n` };
const VIEW_START = notificationStart(METHOD.view);
const NO_ENDPOINT = 'MCP clients are not served on this socket yet; a peer that wants roots sends "rootsd/attach"';

export class PeerSession implements AttachedSession {
  readonly id: string;
  readonly since: number;
  readonly #options: PeerSessionOptions;
  readonly #lines: JsonLines;
  /** The view that it has, whether it has been told yet or not; null until it is attached. */
  #view: ToldView | null = null;
  #serial = 1;
  #noticeIsDue = false;
  #watching = false;
  #listed = false;
  #told: number | null = null;

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
      watching: this.#watching,
      listed: this.#listed,
      told: this.#told,
      waitingBytes,
    };
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
    if (!this.#watching && !isOther) return;
    this.#noticeIsDue = true;
    this.#lines.notify();
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
    else this.#serve(message);
  }

  /** The first message decides what the peer is. */
  #open(message: Message): void {
    const refusal = this.#options.refusal();
    const id = 'id' in message ? message.id : null;
    if (refusal !== null) this.#endWith(id, refusal, LOG_EVENTS.refused);
    else if (message.kind === 'request' && message.method === METHOD.attach) this.#attach(message);
    else if (message.kind === 'request' && opensEndpoint(message)) {
      this.#lines.send(errorReply(id, methodNotFound('No MCP endpoint', NO_ENDPOINT).error));
    } else this.#endWith(id, firstMessageError(message), LOG_EVENTS.peerFault);
  }

  #attach({ id, params }: Request): void {
    const { authority, facts, onAttach } = this.#options;
    try {
      const { peer, told } = authority.attach(readAttachParams(params), facts.confirm(), this);
      this.#view = told;
      facts.close();
      // What it claims is kept as long as it is open.
      this.#lines.keep(JSON.stringify(params).length);
      onAttach(this);
      const own = { session: JSON.stringify(this.id), peer: JSON.stringify(peer) };
      this.#lines.send(resultReply(id, told.attachJson(own)));
    } catch (error) {
      // Wrong parameters can be put right: another version, another name.
      if (error instanceof Refusal) this.#lines.send(errorReply(id, error.error));
      else this.#endWith(id, error, LOG_EVENTS.refused);
    }
  }

  #serve(message: Message): void {
    switch (message.kind) {
      case 'invalid':
        this.#lines.send(errorReply(message.id, message.error));
        return;
      case 'request':
        this.#lines.send(this.#reply(message));
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
    this.#listed = true;
    this.#told = this.#serial;
    return this.#view?.listJson ?? '';
  }

  #watch(): string {
    this.#watching = true;
    this.#noticeIsDue = false;
    this.#told = this.#serial;
    return this.#view?.viewJson(this.#serial) ?? '';
  }

  #nextNotice(): Notice | null {
    if (!this.#noticeIsDue || this.#view === null) return null;
    this.#noticeIsDue = false;
    if (!this.#watching) return LIST_CHANGED;
    this.#told = this.#serial;
    const { own, shared } = this.#view.viewLine(this.#serial);
    return { own: VIEW_START + own, shared };
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
    facts.close();
    onClose(this);
    if (this.#view !== null) authority.closed(this);
  }
}
