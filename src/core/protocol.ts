// Our words <-> messages of the sockets (docs/protocol.md) and of MCP. All knowledge of revisions lives here.

import { ACCESS_META, type Access } from './access.ts';
import type { Kind } from './decision.ts';
import { commandFits } from './match-peer.ts';
import type { PeerClass } from './peer.ts';
import type { ServerEntry } from './policy.ts';
import type { Effect } from './rule.ts';
import type { ChannelKind, ServerTraits } from './server-traits.ts';
import type { View } from './view.ts';

export const ATTACH_VERSION = 1;

/** The one revision of the modern era: its requests stand alone, without a handshake. */
export const MODERN_REVISION = '2026-07-28';

/** In `_meta` of each request of a modern client: the revision, and what the client can do. */
export const MODERN_META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
} as const;

/** Modern requests that a server may answer by questions, in a result of this type. */
export const MAY_ASK_BACK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
export const INPUT_REQUIRED = 'input_required';

/** Requests of a host in whose parameters paths may stand. */
export const NAMES_PLACES: ReadonlySet<string> = new Set([
  'tools/call',
  'resources/read',
  'resources/subscribe',
  'subscriptions/listen',
  'prompts/get',
  'completion/complete',
]);

/** Is this how an MCP client of either era opens a connection? */
export function opensEndpoint({ method, params }: { readonly method: string; readonly params: object }): boolean {
  return method === 'initialize' || method === 'server/discover' || areModern(params);
}

/** Are these the parameters of a request of the modern era? */
export function areModern(params: object): boolean {
  const meta = '_meta' in params ? params._meta : undefined;
  return typeof meta === 'object' && meta !== null && MODERN_META.version in meta;
}

/** Of the roots that a host gives, so many are used … */
export const MAX_HOST_ROOTS = 64;
/** … of URIs up to this length. */
export const MAX_HOST_ROOT_BYTES = 4_096;

export type Id = string | number;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** JSON-RPC 2.0 error codes, the only ones we send. */
export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const;

export interface AttachParams {
  readonly version: number;
  readonly server: string | null;
  readonly host?: string | null;
  /** Given by `rootsd run`: what it is about to start. Without `server`, the daemon finds the one entry that fits. */
  readonly launch?: { readonly argv: readonly string[]; readonly cwd: string };
  readonly project?: string;
}

/** A root on the wire, as MCP has it. */
export interface WireRoot {
  readonly uri: string;
  readonly name: string;
  readonly _meta: { readonly [ACCESS_META]: Access };
}

/** What is enforced, entry for entry beside `roots` (same order). `root` is the policy's name, for `{root:NAME}`. */
export interface BoundaryEntry {
  readonly root: string;
  readonly path: string;
  readonly access: Access;
  readonly carved: readonly string[];
  /** `device:inode:birth`: a directory replaced by another is a change even if its path stays the same. */
  readonly identity?: string;
}

/** A place that a person could give, or has refused to. */
export interface WireOffer extends Omit<BoundaryEntry, 'access'> {
  /** What could be given, more than holds; null: a person has refused. */
  readonly access: Access | null;
}

export interface WireViewEntry {
  readonly root: string;
  readonly effect: Effect;
  readonly kind: Kind;
  readonly access: Access | null;
  readonly available: boolean;
  readonly why: string;
}

/** `degraded`: the last good policy of a layer stays in force. */
export type PolicyState = 'ok' | 'degraded' | 'lockdown';

/** All that `rootsd run` needs to know of the policy and the server, so that it parses no YAML and no schema. */
export interface LaunchPlan extends ServerTraits {
  /** false: roots are not announced, `roots/list` gets -32601. */
  readonly roots: boolean;
  readonly hostRoots: 'narrow' | 'ignore';
  readonly guard: 'on' | 'off' | 'strict';
  /** Which files were read: for the one line where nothing is allowed. The first twenty, and how many there are. */
  readonly policyFiles: readonly string[];
  readonly policyFileCount: number;
  /** Where they are looked for. */
  readonly policyDirectories: readonly string[];
  /** Where the server was started by other words than its entry declares. */
  readonly declared?: { readonly command: readonly string[]; readonly file: string; readonly line: number };
  /** `lockdown`: no valid policy is known, so nothing is allowed whatever files say. */
  readonly policyState: PolicyState;
  /** The daemon's version, for a warning when `run` is older or newer. */
  readonly version: string;
}

/** Who an MCP client is that does not say it: it is served by us, and by nobody else. */
export const ENDPOINT_NAME = 'rootsd';

export interface AttachResult {
  readonly session: string;
  readonly generation: string;
  readonly peer: {
    readonly uid: number | null;
    readonly gid: number | null;
    readonly pid: number | null;
    readonly exe: string | null;
    readonly class: PeerClass;
    readonly server: string | null;
    readonly host: string | null;
  };
  readonly roots: readonly WireRoot[];
  readonly boundary: readonly BoundaryEntry[];
  readonly plan: LaunchPlan;
}

/** `rootsd/watch` answers one; then each `rootsd/view` is complete: absence is withdrawal. */
export interface ViewMessage {
  readonly generation: string;
  /** Counts the views of one session, from 1: a change on the disk leaves the generation as it was. */
  readonly serial: number;
  /** What holds of the server's entry now. */
  readonly plan: LaunchPlan;
  readonly roots: readonly WireRoot[];
  readonly boundary: readonly BoundaryEntry[];
  readonly view: readonly WireViewEntry[];
  /** A daemon of before this had a name gives none. */
  readonly offers?: readonly WireOffer[];
}

/** The parameters of `rootsd/ack`: a view is in force at the peer. Without a serial the last one of that generation. */
export type Ack = Pick<ViewMessage, 'generation'> & Partial<Pick<ViewMessage, 'serial'>>;

/** The revisions up to 2025-11-25, or the one of 2026-07-28. */
export type Era = 'legacy' | 'modern';

/** The parameters of `rootsd/report`: what `rootsd run` knows of its session and the daemon cannot see. */
export interface SessionReport {
  /** Of the host's newest request; null: it has not asked anything yet. */
  readonly era: Era | null;
  /** What carries the boundary to the server. */
  readonly channels: readonly ChannelKind[];
  /** Has the server asked for its roots? false: not within 10 s of being ready; null: nobody knows yet, or needs to. */
  readonly askedForRoots: boolean | null;
  /** Can a person be asked through the host, now? */
  readonly elicits: boolean;
}

/** A question that the person at a host may answer. */
export interface HostQuestion {
  readonly id: string;
  /** What is shown: who asks for what. Lines, nothing hidden in them. */
  readonly text: string;
  /** How long a yes may hold; the one that ends first comes first. */
  readonly scopes: readonly string[];
  /** RFC 3339 */
  readonly until: string;
}

/** The parameters of `rootsd/questions`: all that this session's host may answer now. What is not in it is open no more. */
export interface HostQuestions {
  readonly questions: readonly HostQuestion[];
}

/** The parameters of `rootsd/answer`: what the host has made of a question. */
export interface HostAnswer {
  readonly id: string;
  /** `pass`: nothing; it is left to others. */
  readonly says: 'yes' | 'no' | 'pass';
  /** Of a yes; the scope that ends first where omitted. */
  readonly scope?: string;
}

/** The parameters of `rootsd/refused`: a call that the server has not seen. */
export interface RefusedCall {
  readonly method: string;
  readonly tool: string | null;
  /** As the call has it, cut to 300 characters, with what is hidden in it escaped; null: it names none. */
  readonly path: string | null;
  /** What the call wanted of it. */
  readonly access: Access;
  /** In a word or two, with hyphens. */
  readonly reason: string;
  /** How many before it were refused and not told, because there were so many. */
  readonly left: number;
}

/** The parameters of `rootsd/request`: a call names places that a person could give. It waits, or is refused at once. */
export interface AccessRequest {
  /** Names the call within the session. */
  readonly call: number;
  /** All of it or nothing; at most `MAX_WANTS`. */
  readonly wants: readonly { readonly path: string; readonly access: Access }[];
}

export const MAX_WANTS = 16;

/**
 * `granted`: all of it may be used now. `asked`: the call waits for `rootsd/decided`. `refused`: by a person, or it is not
 * offered. `no-agent`: nobody is shown the question, which can be answered all the same. `no-answer`: in time. `too-many`:
 * nothing more is asked now.
 */
export type AccessState = 'granted' | 'asked' | 'refused' | 'no-agent' | 'no-answer' | 'too-many';

/** What becomes of such a call: the result of `rootsd/request`, and with the call the parameters of `rootsd/decided`. */
export interface AccessReply {
  readonly state: AccessState;
  /** Of the view in which it is so. */
  readonly serial: number;
  /** What a person is asked for it. */
  readonly questions: readonly { readonly id: string; readonly root: string; readonly access: Access }[];
}

export type AccessDecided = Pick<AccessRequest, 'call'> & Omit<AccessReply, 'questions'>;

/** The parameters of `rootsd/callEnded`: what was given for this call ends, and what is asked for it is withdrawn. */
export type CallEnded = Pick<AccessRequest, 'call'>;

/** So many refused calls of a session are told, logged and audited; the others are counted. */
export const REFUSALS_TOLD = { limit: 20, windowMs: 10_000 } as const;

export const METHOD = {
  attach: 'rootsd/attach',
  endpoint: 'rootsd/endpoint',
  watch: 'rootsd/watch',
  view: 'rootsd/view',
  ack: 'rootsd/ack',
  hostRoots: 'rootsd/hostRoots',
  report: 'rootsd/report',
  refused: 'rootsd/refused',
  questions: 'rootsd/questions',
  answer: 'rootsd/answer',
  request: 'rootsd/request',
  decided: 'rootsd/decided',
  callEnded: 'rootsd/callEnded',
  listRoots: 'roots/list',
  ping: 'ping',
  rootsChanged: 'notifications/roots/list_changed',
  status: 'rootsd/status',
  sessions: 'rootsd/sessions',
  reload: 'rootsd/reload',
  explain: 'rootsd/explain',
  roots: 'rootsd/roots',
  consentList: 'rootsd/consent/list',
  consentShow: 'rootsd/consent/show',
  consentApprove: 'rootsd/consent/approve',
  consentDeny: 'rootsd/consent/deny',
  consentRevoke: 'rootsd/consent/revoke',
  consentReset: 'rootsd/consent/reset',
  consentExport: 'rootsd/consent/export',
  consentWatch: 'rootsd/consent/watch',
  consentAsked: 'rootsd/consent/asked',
  consentWithdrawn: 'rootsd/consent/withdrawn',
  stop: 'rootsd/stop',
} as const;

/** The roots of a view as `roots/list` tells them. */
export function wireRoots(view: View): readonly WireRoot[] {
  return view.told.map(({ uri, title, access }) => ({ uri, name: title, _meta: { [ACCESS_META]: access } }));
}

/** What is enforced, in the order of wireRoots(). */
export function wireBoundary(view: View): readonly BoundaryEntry[] {
  return view.told.map(({ root, path, access, carved, identity }) => ({ root, path, access, carved, identity }));
}

/** Every root of a session with its decision, as `rootsd roots --json` prints it. */
export function wireView(view: View): readonly WireViewEntry[] {
  return view.entries.map(({ root, decision, available, why }) => {
    const { effect, kind, access } = decision;
    return { root, effect, kind, access, available, why };
  });
}

/** What a person could give to a session, or has refused to. */
export function wireOffers(view: View): readonly WireOffer[] {
  return view.offers.map(({ root, path, access, carved, identity }) => ({ root, path, access, carved, identity }));
}

/** Do both plans ask for the same? Which files were read, by which version, and where something stands, asks for nothing. */
export function samePlan(a: LaunchPlan, b: LaunchPlan): boolean {
  return JSON.stringify(asked(a)) === JSON.stringify(asked(b));
}

function asked(plan: LaunchPlan): Partial<LaunchPlan> {
  const { policyFiles, policyFileCount, policyDirectories, policyState, version, declared, ...rest } = plan;
  return rest;
}

/** A plan goes to each session, and is no place for a thousand names. */
const MAX_POLICY_FILES = 20;

export interface PlanFacts extends Pick<LaunchPlan, 'policyFiles' | 'policyDirectories' | 'policyState' | 'version'> {
  /** The words by which the server was started. */
  readonly argv?: readonly string[] | undefined;
}

/** What `rootsd run` is told of a server: its entry (without one the defaults of the policy language) and its traits. */
export function launchPlan(
  entry: ServerEntry | undefined,
  traits: ServerTraits,
  { argv, ...facts }: PlanFacts,
): LaunchPlan {
  const { roots = true, hostRoots = 'narrow', guard = 'on' } = entry ?? {};
  const policyFiles = facts.policyFiles.slice(0, MAX_POLICY_FILES);
  const policyFileCount = facts.policyFiles.length;
  return { ...traits, roots, hostRoots, guard, ...facts, policyFiles, policyFileCount, ...otherWords(entry, argv) };
}

function otherWords(entry: ServerEntry | undefined, argv: readonly string[] | undefined): Pick<LaunchPlan, 'declared'> {
  const command = entry?.selectors.command;
  if (entry === undefined || command === undefined || argv === undefined || commandFits(command, argv)) return {};
  const { file, line } = entry.source;
  return { declared: { command, file, line } };
}
