// One connection to the control socket: one request after the other, each answered before the next is looked at.

import type { Socket } from 'node:net';
import type { RootsError } from '../core/errors.ts';
import { LOG_EVENTS } from '../core/log-event.ts';
import type { Id } from '../core/protocol.ts';
import type { Log } from '../system/log.ts';
import { type Fault, JsonLines, type JsonLinesOptions } from './json-lines.ts';
import { errorReply, isBug, type Message, methodNotFound, readMessage, resultReply, toRpcError } from './message.ts';
import { faultError } from './peer-errors.ts';
import type { PeerFacts } from './peer-facts.ts';

/** A connection, to a handler that has more to say than its answer. */
export interface ControlConnection {
  notify(method: string, params: object): void;
  /** It is told things from now on, so it does not count as idle; `onClosed` is called at its end. */
  keepTold(onClosed: () => void): void;
}

/** Answers a method; the result is sent as JSON, undefined as null. Throws a RootsError to refuse; anything else is a bug. */
export type ControlHandler = (params: unknown, caller: PeerFacts, connection: ControlConnection) => Promise<unknown>;
export type ControlHandlers = Readonly<Record<string, ControlHandler>>;

export interface ControlSessionOptions extends JsonLinesOptions {
  readonly handlers: ControlHandlers;
  readonly log: Log;
  readonly facts: PeerFacts;
  /** Why this caller is not served, or null. */
  readonly refusal: RootsError | null;
  readonly onClose: (session: ControlSession) => void;
}

type Request = Extract<Message, { kind: 'request' }>;

export class ControlSession implements ControlConnection {
  readonly #options: ControlSessionOptions;
  readonly #lines: JsonLines;
  #isAnswering = false;
  #isClosing = false;
  #onToldEnd: (() => void) | null = null;

  constructor(socket: Socket, options: ControlSessionOptions) {
    this.#options = options;
    this.#lines = new JsonLines(socket, options, {
      onMessage: (value) => this.#receive(readMessage(value)),
      onFault: (fault) => this.#fault(fault),
      onEnd: () => this.close(),
      onClose: () => this.#closed(),
    });
  }

  /** It waits for nothing. */
  get isIdle(): boolean {
    return !this.#isAnswering && this.#onToldEnd === null;
  }

  notify(method: string, params: object): void {
    this.#lines.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  keepTold(onClosed: () => void): void {
    this.#onToldEnd = onClosed;
  }

  /** After the answer that is being made: the one who said "stop" hears that it was heard. */
  close(): void {
    this.#isClosing = true;
    if (!this.#isAnswering) this.#lines.end();
  }

  destroy(): void {
    this.#lines.destroy();
  }

  whenClosed(): Promise<void> {
    return this.#lines.whenClosed();
  }

  #receive(message: Message): void {
    const { refusal } = this.#options;
    if (refusal !== null) this.#endWith('id' in message ? message.id : null, refusal);
    else if (message.kind === 'invalid') this.#lines.send(errorReply(message.id, message.error));
    else if (message.kind === 'request') void this.#answer(message);
  }

  /** Never rejects. */
  async #answer(request: Request): Promise<void> {
    this.#isAnswering = true;
    this.#lines.hold();
    this.#lines.send(await this.#reply(request));
    this.#isAnswering = false;
    if (this.#isClosing) this.#lines.end();
    this.#lines.release();
  }

  async #reply({ id, method, params }: Request): Promise<string> {
    const { handlers, log, facts } = this.#options;
    try {
      const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
      if (handler === undefined)
        throw methodNotFound('Method not found', 'It is not one of the methods of this socket');
      return resultReply(id, JSON.stringify((await handler(params, facts, this)) ?? null));
    } catch (error) {
      if (isBug(error)) log('error', LOG_EVENTS.bug, { method, error });
      return errorReply(id, toRpcError(error));
    }
  }

  #fault(fault: Fault): void {
    this.#endWith(null, this.#options.refusal ?? faultError(fault, this.#options));
  }

  #endWith(id: Id | null, error: RootsError): void {
    const { log, facts } = this.#options;
    log('warn', LOG_EVENTS.peerFault, { socket: 'control', uid: facts.uid, error });
    this.#lines.end(errorReply(id, toRpcError(error)));
  }

  #closed(): void {
    this.#onToldEnd?.();
    this.#options.facts.close();
    this.#options.onClose(this);
  }
}
