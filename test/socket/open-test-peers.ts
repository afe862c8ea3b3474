// The peers' socket with an authority of few lines: everybody gets the view that the test publishes.

import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Observed } from '../../src/core/peer.ts';
import type {
  AccessReply,
  AccessRequest,
  Ack,
  AttachParams,
  CallEnded,
  HostAnswer,
  LaunchPlan,
  RefusedCall,
  SessionReport,
  ViewMessage,
} from '../../src/core/protocol.ts';
import type { Given } from '../../src/core/question.ts';
import { UNKNOWN_SERVER } from '../../src/core/server-traits.ts';
import { ToldView } from '../../src/core/told-view.ts';
import { type Native, openNative } from '../../src/disk/native.ts';
import type {
  Attachment,
  Authority,
  EndpointConversation,
  EndpointLine,
  HostRoot,
} from '../../src/socket/authority.ts';
import { Capacity } from '../../src/socket/capacity.ts';
import type { LineLimits } from '../../src/socket/json-lines.ts';
import type { PeerSession } from '../../src/socket/peer-session.ts';
import { openPeers, type Peers, type PeersOptions } from '../../src/socket/peers.ts';
import type { Log } from '../../src/system/log.ts';
import { temporaryDirectory } from '../support/tree.ts';

export const LIMITS: LineLimits & { readonly sessions: number } = {
  message: 4 * 1024 * 1024,
  queue: 1024 * 1024,
  sessions: 4096,
};

const PLAN: LaunchPlan = {
  ...UNKNOWN_SERVER,
  roots: true,
  hostRoots: 'narrow',
  guard: 'on',
  policyFiles: [],
  policyFileCount: 0,
  policyDirectories: ['/etc/rootsd/policies.d'],
  policyState: 'ok',
  version: '0',
};

/** A view of generation `g` with these roots. */
export function viewOf(generation: string, ...names: readonly string[]): ViewMessage {
  return {
    generation,
    serial: 1,
    plan: PLAN,
    roots: names.map((name) => ({ uri: `file:///${name}`, name, _meta: { 'io.rootsd/access': 'read-only' } })),
    boundary: names.map((root) => ({ root, path: `/${root}`, access: 'read-only', carved: [] })),
    view: names.map((root) => ({
      root,
      effect: 'allow',
      kind: 'rule',
      access: 'read-only',
      available: true,
      why: 'because',
    })),
  };
}

/** The same where the policy says `roots: off`. */
export function offView(generation: string, ...names: readonly string[]): ViewMessage {
  return { ...viewOf(generation, ...names), plan: { ...PLAN, roots: false } };
}

/** As sessions are given it. */
export function toldOf({ serial, ...message }: ViewMessage): ToldView {
  return new ToldView(message);
}

export class TestAuthority implements Authority {
  view: ViewMessage = viewOf('a1', 'one');
  failure: Error | null = null;
  /** How many steps an attach takes before its last. */
  attachSteps = 0;
  readonly attached: {
    readonly params: AttachParams;
    readonly observed: Observed | null;
    readonly session: PeerSession;
  }[] = [];
  readonly acknowledgements: Ack[] = [];
  readonly hostRootsSeen: (readonly HostRoot[])[] = [];
  readonly reports: SessionReport[] = [];
  readonly refusedCalls: RefusedCall[] = [];
  readonly hostAnswers: HostAnswer[] = [];
  readonly requests: AccessRequest[] = [];
  accessReply: AccessReply = { state: 'refused', serial: 1, questions: [] };
  readonly endedCalls: CallEnded[] = [];
  readonly listedSessions: PeerSession[] = [];
  readonly closedSessions: PeerSession[] = [];
  /** What serves MCP clients is loaded so long. */
  endpointReady: Promise<void> = Promise.resolve();
  readonly closedEndpoints: PeerSession[] = [];
  onClosed: () => void = () => {};

  /** Those that have attached and are open. */
  get sessions(): readonly PeerSession[] {
    return this.attached.map(({ session }) => session).filter((session) => !this.closedSessions.includes(session));
  }

  *attach(params: AttachParams, observed: Observed | null, session: PeerSession): Generator<void, Attachment> {
    for (let step = 0; step < this.attachSteps; step += 1) yield;
    if (this.failure !== null) throw this.failure;
    this.attached.push({ params, observed, session });
    const peer = {
      uid: null,
      gid: null,
      pid: null,
      exe: null,
      class: 'claimed',
      server: params.server,
      host: null,
    } as const;
    return { peer, told: toldOf(this.view) };
  }

  acknowledged(_session: PeerSession, ack: Ack): void {
    this.acknowledgements.push(ack);
  }

  listed(session: PeerSession): void {
    this.listedSessions.push(session);
  }

  hostRoots(_session: PeerSession, roots: readonly HostRoot[]): void {
    this.hostRootsSeen.push(roots);
  }

  reported(_session: PeerSession, report: SessionReport): void {
    this.reports.push(report);
  }

  requested(_session: PeerSession, request: AccessRequest): AccessReply {
    this.requests.push(request);
    return this.accessReply;
  }

  callEnded(_session: PeerSession, ended: CallEnded): void {
    this.endedCalls.push(ended);
  }

  refused(_session: PeerSession, call: RefusedCall): void {
    this.refusedCalls.push(call);
  }

  async answered(_session: PeerSession, answer: HostAnswer): Promise<Given | null> {
    this.hostAnswers.push(answer);
    return answer.says === 'yes' ? { scope: answer.scope ?? 'session', access: 'read-only' } : null;
  }

  /** An endpoint that says everything back. */
  async openEndpoint(session: PeerSession, line: EndpointLine): Promise<EndpointConversation> {
    await this.endpointReady;
    return {
      receive: (message) => line.send(JSON.stringify({ said: message, by: session.id })),
      closed: () => void this.closedEndpoints.push(session),
    };
  }

  closed(session: PeerSession): void {
    this.closedSessions.push(session);
    this.onClosed();
  }
}

export interface TestPeers {
  readonly peers: Peers;
  readonly authority: TestAuthority;
  readonly path: string;
  /** `level event` and fields of every line logged. */
  readonly logged: { readonly level: string; readonly event: string; readonly fields: Record<string, unknown> }[];
  /** Changes the view of everybody. */
  publish(view: ViewMessage, listChanged?: boolean): void;
}

const native = await openNative();

export async function openTestPeers(
  t: Pick<TestContext, 'after'>,
  options: Partial<PeersOptions> & { readonly limits?: typeof LIMITS; readonly native?: Native | null } = {},
): Promise<TestPeers> {
  const path = join(temporaryDirectory(t), 'rootsd.sock');
  const authority = new TestAuthority();
  const logged: TestPeers['logged'] = [];
  const log: Log = (level, event, fields = {}) => void logged.push({ level, event, fields: { ...fields } });
  const { limits = LIMITS } = options;
  const { capacity = new Capacity(limits) } = options;
  const given = { at: { path }, limits, capacity, authority, native, log, now: () => 0, ...options };
  const peers = await openPeers(given);
  t.after(() => peers.close());
  const publish = (view: ViewMessage, listChanged = true) => {
    authority.view = view;
    const told = toldOf(view);
    for (const session of authority.sessions) session.publish(told, { serial: view.serial, listChanged });
  };
  return { peers, authority, path, logged, publish };
}
