// The few members of the MCP SDK's classes that the libraries use, of 1.x and 2.x alike. Both libraries get such an object
// from whoever made it; no SDK is loaded here, so whichever copy and version the program has is the one that is used.

import { MODERN_META, MODERN_REVISION } from '../core/protocol.ts';

type Anything = (...args: never[]) => unknown;

interface SdkEnd {
  readonly transport?: unknown;
  setRequestHandler: Anything;
  setNotificationHandler: Anything;
  /** 2.x alone has it. */
  getNegotiatedProtocolVersion?: () => string | undefined;
}

/** A `Server` of the SDK. */
export interface SdkServer extends SdkEnd {
  getClientCapabilities(): { readonly roots?: object | undefined } | undefined;
  request: Anything;
  oninitialized?: (() => void) | undefined;
}

/** A `Client` of the SDK. */
export interface SdkClient extends SdkEnd {
  registerCapabilities(capabilities: { readonly roots: { readonly listChanged: true } }): void;
  getServerCapabilities(): { readonly completions?: object | undefined } | undefined;
  sendRootsListChanged(): Promise<void>;
  complete: Anything;
}

/** A `Server`, or an `McpServer` that has one. */
export type AnyServer = SdkServer | { readonly server: SdkServer };

/** The `Server` that an `McpServer` stands in front of. */
export function plainServer(server: AnyServer): SdkServer {
  return 'server' in server ? server.server : server;
}

/** Whether a connection speaks a revision without an `initialize` handshake: 2026-07-28 or later. */
export function speaksModern(end: SdkEnd): boolean {
  const revision = end.getNegotiatedProtocolVersion?.();
  return revision !== undefined && revision >= MODERN_REVISION;
}

/** Calls `handle` at each notification of that method. */
export function onNotification(end: SdkEnd, method: string, handle: () => void): void {
  (end.setNotificationHandler as (method: unknown, handle: () => void) => void)(named(end, method), handle);
}

/** Answers each request of that method, which takes no parameters. */
export function onRequest(end: SdkEnd, method: string, answer: () => object): void {
  (end.setRequestHandler as (method: unknown, answer: () => object) => void)(named(end, method), answer);
}

/**
 * Asks the other end, and gives the result as it came: the SDK's own schema would refuse a whole list for one entry that is
 * not a `file:` URI.
 */
export function ask(end: SdkServer, method: string, options: { readonly timeout: number }): Promise<unknown> {
  return (end.request as (...args: readonly unknown[]) => Promise<unknown>)({ method }, ANY_RESULT, options);
}

/** As 1.x reads a schema. */
const ANYTHING = {
  parse: (message: unknown) => message,
  safeParse: (message: unknown) => ({ success: true, data: message }),
};

/** And as 2.x does. */
const ANY_RESULT = {
  ...ANYTHING,
  '~standard': { version: 1, vendor: 'rootsd', validate: (value: unknown) => ({ value }) },
};

/** 2.x takes a method by its name, 1.x by a schema. */
function named(end: SdkEnd, method: string): unknown {
  return 'getNegotiatedProtocolVersion' in end ? method : schemaOf(method);
}

/** As much of a Zod schema as 1.x reads of one: the method; what comes with it is not looked at. */
function schemaOf(method: string): object {
  return { ...ANYTHING, shape: { method: { value: method, _def: { value: method } } } };
}

/** What a handler is told of a call of the modern era, in the last of its arguments. */
export interface ModernCall {
  /** Does the client offer roots in this request? */
  readonly offersRoots: boolean;
  /** Answers to what was asked back, by key. */
  readonly answers: Readonly<Record<string, unknown>>;
}

/** Reads the context that SDK 2.x hands to a handler; null: the call is of the legacy era. */
export function modernCall(context: unknown): ModernCall | null {
  const request = member(context, 'mcpReq');
  const envelope = member(request, 'envelope');
  if (member(envelope, MODERN_META.version) === undefined) return null;
  const offersRoots = isObject(member(member(envelope, MODERN_META.capabilities), 'roots'));
  const answers = member(request, 'inputResponses');
  return { offersRoots, answers: isObject(answers) ? answers : {} };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}
