// rootsd as an MCP server, for one client. The SDK knows the protocol in both eras; what is answered comes from the policy
// in force and the disk, anew each time.

import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import {
  isJSONRPCRequest,
  ProtocolError,
  type Result,
  Server,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { areModern, RPC } from '../core/protocol.ts';
import type { Clock } from '../disk/clock.ts';
import { Completer } from './completer.ts';
import type { EndpointSession } from './endpoint-session.ts';
import { LineTransport, type LineTransportOptions } from './line-transport.ts';
import { isInside } from './places.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { type Params, readCallParams, readGetPromptParams, readListParams, readUri } from './read-params.ts';
import { RequestRefused } from './request-refused.ts';
import { listResources, listTemplates, noSuchResource, pathOfUri, readResource } from './resources.ts';
import { MAX_SUBSCRIPTIONS, Subscriptions } from './subscriptions.ts';
import { TOOLS } from './tool-descriptions.ts';
import { callTool } from './tools.ts';

export interface EndpointOptions extends LineTransportOptions {
  readonly session: EndpointSession;
  readonly version: string;
  readonly clock: Clock;
  readonly onBug: (error: unknown) => void;
}

const INSTRUCTIONS =
  'rootsd decides which directories may be used here. The resources are the roots of this session and what lies in ' +
  'them; check_path says of a path whether it may be used, and why; request_access asks for more.';

/** Begins to serve a client; its messages are to be given to receive(). */
export function openEndpoint(options: EndpointOptions): Endpoint {
  return new Endpoint(options);
}

export class Endpoint {
  readonly #options: EndpointOptions;
  readonly #transport: LineTransport;
  readonly #subscriptions: Subscriptions;
  readonly #completer: Completer;
  /** What a modern client listens to, by the id of the request that lasts as long. */
  readonly #listening = new Map<unknown, readonly string[]>();
  /** The one that the client talks to; while an era is being found out there may be none, or another. */
  #server: Server | null = null;
  #isReady = false;
  /** What the client has been told of, to tell it of a change. */
  #resources: string;
  #prompts: string;

  constructor(options: EndpointOptions) {
    this.#options = options;
    const { session, clock, version } = options;
    this.#resources = this.#resourcesNow();
    this.#prompts = this.#promptsNow();
    this.#completer = new Completer({ session, clock });
    this.#subscriptions = new Subscriptions({ session, clock, onUpdate: (uri) => this.#tellUpdate(uri) });
    this.#transport = new LineTransport(options);
    serveStdio(({ era }) => this.#makeServer(era, version), {
      transport: this.#transport,
      maxSubscriptions: MAX_SUBSCRIPTIONS,
    });
  }

  /** A message of the client, which is JSON-RPC. */
  receive(message: JSONRPCMessage): void {
    // What the SDK does not take for a message it drops, and a client would wait for ever.
    if ('id' in message && !isJSONRPCRequest(message)) {
      this.#refuse(message.id, RPC.invalidParams, 'Invalid params: "id" or "_meta" is not as MCP has it');
      return;
    }
    if ('id' in message && this.#transport.isOpen(message.id)) {
      this.#refuse(message.id, RPC.invalidRequest, 'Invalid request: another one with this id is under way');
      return;
    }
    this.#noteListening(message);
    this.#transport.receive(message);
  }

  /** Policy or disk have changed: tells what that means for this client. */
  changed(): void {
    this.#completer.forget();
    const [resources, prompts] = [this.#resourcesNow(), this.#promptsNow()];
    if (resources !== this.#resources) this.#notify('notifications/resources/list_changed');
    if (prompts !== this.#prompts) this.#notify('notifications/prompts/list_changed');
    this.#resources = resources;
    this.#prompts = prompts;
    void this.#subscriptions.lookAgain();
  }

  /** The client is gone. */
  closed(): void {
    this.#subscriptions.close();
    this.#completer.close();
    this.#transport.closed();
  }

  #refuse(id: unknown, code: number, message: string): void {
    this.#options.send(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
  }

  #makeServer(era: 'legacy' | 'modern', version: string): Server {
    const server = new Server(
      { name: 'rootsd', title: 'rootsd', version },
      {
        capabilities: {
          resources: { subscribe: true, listChanged: true },
          tools: {},
          prompts: { listChanged: true },
          completions: {},
        },
        instructions: INSTRUCTIONS,
      },
    );
    // A legacy client is told nothing before it has said that it is ready; a modern one only what it listens to.
    this.#isReady = era === 'modern';
    server.oninitialized = () => {
      this.#isReady = true;
    };
    this.#serveResources(server, era);
    this.#serveTools(server);
    this.#servePrompts(server);
    this.#server = server;
    return server;
  }

  #serveResources(server: Server, era: 'legacy' | 'modern'): void {
    const { session } = this.#options;
    this.#serve(server, 'resources/list', (params) => {
      readListParams(params);
      return listResources(session.sight());
    });
    this.#serve(server, 'resources/templates/list', (params) => {
      readListParams(params);
      return listTemplates();
    });
    this.#serve(server, 'resources/read', (params) => readResource(session, readUri(params)));
    if (era === 'modern') return;
    this.#serve(server, 'resources/subscribe', (params) => this.#subscribe(readUri(params)));
    this.#serve(server, 'resources/unsubscribe', (params) => {
      this.#subscriptions.remove(readUri(params));
      return {};
    });
  }

  #serveTools(server: Server): void {
    this.#serve(server, 'tools/list', (params) => {
      readListParams(params);
      return { tools: [...TOOLS] };
    });
    this.#serve(server, 'tools/call', (params) => callTool(this.#options.session, readCallParams(params)));
  }

  #servePrompts(server: Server): void {
    const { session } = this.#options;
    this.#serve(server, 'prompts/list', (params) => {
      readListParams(params);
      return listPrompts(session);
    });
    this.#serve(server, 'prompts/get', (params) => getPrompt(session, readGetPromptParams(params)));
    this.#serve(server, 'completion/complete', (params) => this.#completer.complete(params));
  }

  /** Answers a method. What is thrown and no refusal is a bug: nothing of it goes to the client. */
  #serve(server: Server, method: string, act: (params: Params) => Result | Promise<Result>): void {
    server.setRequestHandler(method, { params: AS_IT_IS }, async (params, { mcpReq: { id, signal } }) => {
      // Cancelled before it began: no answer is sent, whatever it is.
      if (signal.aborted) return {};
      const end = this.#transport.begin(id);
      try {
        return await act(params);
      } catch (error) {
        if (error instanceof RequestRefused) throw new ProtocolError(error.code, error.message, error.data);
        this.#options.onBug(error);
        throw new ProtocolError(RPC.internal, 'Internal error');
      } finally {
        end(!signal.aborted);
      }
    });
  }

  async #subscribe(uri: string): Promise<Record<string, never>> {
    const path = pathOfUri(uri);
    if (path === null || !isInside(this.#options.session.sight().view.told, path)) throw noSuchResource(uri);
    if (await this.#subscriptions.add(uri)) return {};
    throw new RequestRefused(RPC.invalidRequest, `At most ${MAX_SUBSCRIPTIONS} resources can be subscribed to`);
  }

  /** A modern client says what it wants to hear of in a request that the SDK answers itself. */
  #noteListening(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if (message.method === 'notifications/cancelled') this.#stopListening(message.params?.requestId);
    if (message.method !== 'subscriptions/listen' || !('id' in message)) return;
    // To a legacy client there is no such method: what is refused is not heard of either.
    if (message.params === undefined || !areModern(message.params)) return;
    const { notifications } = message.params as { notifications?: { resourceSubscriptions?: unknown } };
    const given = notifications?.resourceSubscriptions;
    const uris = Array.isArray(given) ? given.filter((uri) => typeof uri === 'string').slice(0, MAX_SUBSCRIPTIONS) : [];
    if (this.#listening.size >= MAX_SUBSCRIPTIONS) return;
    this.#listening.set(message.id, uris);
    for (const uri of uris) void this.#subscriptions.add(uri);
  }

  #stopListening(id: unknown): void {
    const uris = this.#listening.get(id) ?? [];
    this.#listening.delete(id);
    const others = new Set([...this.#listening.values()].flat());
    for (const uri of uris) if (!others.has(uri)) this.#subscriptions.remove(uri);
  }

  #tellUpdate(uri: string): void {
    this.#notify('notifications/resources/updated', { uri });
  }

  #notify(method: NoticeMethod, params?: { readonly uri: string }): void {
    if (!this.#isReady || this.#server === null) return;
    const notice = params === undefined ? { method } : { method, params };
    this.#server.notification(notice as Parameters<Server['notification']>[0]).catch(this.#options.onBug);
  }

  #promptsNow(): string {
    return JSON.stringify(listPrompts(this.#options.session));
  }

  #resourcesNow(): string {
    return JSON.stringify(listResources(this.#options.session.sight()));
  }
}

/** Parameters are read by what answers. */
const AS_IT_IS: StandardSchemaV1<Params> = {
  '~standard': { version: 1, vendor: 'rootsd', validate: (value) => ({ value: value as Params }) },
};

type NoticeMethod =
  | 'notifications/resources/list_changed'
  | 'notifications/resources/updated'
  | 'notifications/prompts/list_changed';
