import type { Observed } from '../core/peer.ts';
import type {
  AccessDecided,
  AccessReply,
  AccessRequest,
  Ack,
  AttachParams,
  AttachResult,
  CallEnded,
  HostAnswer,
  HostQuestion,
  Id,
  RefusedCall,
  SessionReport,
} from '../core/protocol.ts';
import type { Given } from '../core/question.ts';
import type { ToldView } from '../core/told-view.ts';

/** Who a peer that attaches is taken for, and its first view. */
export type Attachment = Pick<AttachResult, 'peer'> & { readonly told: ToldView };

/** A root as a host gave it: unproven, for people who look at `sessions`. */
export interface HostRoot {
  readonly uri: string;
}

/** Decides who a peer is and what it is told. What it throws but RootsError is a bug. */
export interface Authority {
  /**
   * Taken in slices: ten thousand roots hold up nobody else. With the last step it is a session, which is told of each
   * change from then on; one that goes before is none. `observed` is null where the kernel's word could not be had. A
   * RootsError ends the session; its text is the answer.
   */
  attach(params: AttachParams, observed: Observed | null, session: AttachedSession): Generator<void, Attachment>;
  acknowledged(session: AttachedSession, ack: Ack): void;
  /** The session has asked for its list. */
  listed(session: AttachedSession): void;
  hostRoots(session: AttachedSession, roots: readonly HostRoot[]): void;
  /** What the peer says of its session. */
  reported(session: AttachedSession, report: SessionReport): void;
  /** The peer says that it has refused a call. */
  refused(session: AttachedSession, call: RefusedCall): void;
  /** The host of a session has answered; what that gives. Rejects with a RootsError where it does not count. */
  answered(session: AttachedSession, answer: HostAnswer): Promise<Given | null>;
  /** A call of the peer names what a person could give. Where it is to wait, AttachedSession.decided() follows. */
  requested(session: AttachedSession, request: AccessRequest): AccessReply;
  /** Such a call has ended, waiting or later. */
  callEnded(session: AttachedSession, ended: CallEnded): void;
  /** Serves a session that was attached, whose peer is an MCP client. What it throws is a bug. */
  openEndpoint(session: AttachedSession, line: EndpointLine): Promise<EndpointConversation>;
  /** The connection of a session that was attached has closed. */
  closed(session: AttachedSession): void;
}

/** The way to an MCP client. */
export interface EndpointLine {
  /** Sends one message, given as JSON text. */
  readonly send: (json: string) => void;
  /** Nothing more is given to receive() until release(); calls count. */
  readonly hold: () => void;
  readonly release: () => void;
  /** We have ended the conversation. */
  readonly onClose: () => void;
}

/** A message of an MCP client. */
export type EndpointMessage =
  | { readonly jsonrpc: '2.0'; readonly id: Id; readonly method: string; readonly params: Record<string, unknown> }
  | { readonly jsonrpc: '2.0'; readonly method: string; readonly params: Record<string, unknown> };

/** Whoever talks to an MCP client. */
export interface EndpointConversation {
  receive(message: EndpointMessage): void;
  /** The client is gone. */
  closed(): void;
}

/** A session as whoever decides sees it. */
export interface AttachedSession {
  readonly id: string;
  /** ms since the epoch */
  readonly since: number;
  readonly state: SessionState;
  /** What the kernel says of the peer, looked at again now; null where its process has ended or runs another program. */
  observe(): Observed | null;
  /** All that its host may answer from now on. Told if there is a change; a peer that does not read gets the newest. */
  ask(questions: readonly HostQuestion[]): void;
  /** `serial`: the number of this view in this session; that of the first is 1. */
  publish(told: ToldView, options: { readonly serial: number; readonly listChanged: boolean }): void;
  /** What has become of a call that waited. */
  decided(decided: AccessDecided): void;
}

/** How far a session has come with what it was told. */
export interface SessionState {
  /** Modern: an MCP client that opened so. */
  readonly era: 'legacy' | 'modern';
  readonly watching: boolean;
  /** Has it asked for its roots? */
  readonly listed: boolean;
  /** The serial of the last view it was given: by roots/list, watch or a notice; null before. */
  readonly told: number | null;
  /** Bytes that wait because it does not read. */
  readonly waitingBytes: number;
}
