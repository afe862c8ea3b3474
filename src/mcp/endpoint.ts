// rootsd as an MCP server, for one client. The SDK knows the protocol in both eras; what is answered comes from the policy
// in force and the disk, anew each time.

import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { ProtocolError, type Result, Server, type StandardSchemaV1 } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { RPC, type RpcError } from '../core/protocol.ts';
import type { Clock } from '../disk/clock.ts';
import { Completer } from './completer.ts';
import type { EndpointSession } from './endpoint-session.ts';
import { LineTransport, type LineTransportOptions } from './line-transport.ts';
import { LISTEN, Listening, MAX_LISTENING, TOO_MANY_RESOURCES } from './listening.ts';
import { messageFault } from './message-fault.ts';
import { isInside } from './places.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { type Params, readCallParams, readGetPromptParams, readListParams, readUri } from './read-params.ts';
import { RequestRefused } from './request-refused.ts';
import { listResources, listTemplates, noSuchResource, pathOfUri, readResource } from './resources.ts';
import { Subscriptions } from './subscriptions.ts';
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
  readonly #listening: Listening;
  /** The one that the client talks to; while an era is being found out there may be none, or another. */
  #server: Server | null = null;
  #era: 'legacy' | 'modern' = 'legacy';
  #isReady = false;
  /** What the client has been told of, to tell it of a change. */
  #resources: string;
  #prompts: string;

  constructor(options: EndpointOptions) {
    this.#options = options;
    const { session, clock, version, onBug } = options;
    this.#resources = this.#resourcesNow();
    this.#prompts = this.#promptsNow();
    this.#completer = new Completer({ session, clock });
    this.#subscriptions = new Subscriptions({ session, clock, onBug, onUpdate: (uri) => this.#tellUpdate(uri) });
    this.#listening = new Listening(this.#subscriptions);
    this.#transport = new LineTransport({ ...options, onRefused: (id) => this.#listening.end(id) });
    serveStdio(({ era }) => this.#makeServer(era, version), {
      transport: this.#transport,
      maxSubscriptions: MAX_LISTENING,
    });
  }

  /** A message of the client, which is JSON-RPC. */
  receive(message: JSONRPCMessage): void {
    const fault = this.#faultOf(message);
    if (fault !== null && 'id' in message) {
      this.#options.send(JSON.stringify({ jsonrpc: '2.0', id: message.id, error: fault }));
      return;
    }
    if ('method' in message && message.method === 'notifications/cancelled') {
      this.#listening.end(message.params?.requestId);
    }
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

  #faultOf(message: JSONRPCMessage): RpcError | null {
    const fault = messageFault(message);
    if (fault !== null || !('id' in message)) return fault;
    if (this.#transport.isOpen(message.id) || this.#listening.has(message.id)) return ID_IN_USE;
    if ('method' in message && message.method === 'initialize' && this.#isInitialized) return INITIALIZED;
    const isListen = 'method' in message && message.method === LISTEN;
    return isListen ? this.#listening.begin(message.id, message.params) : null;
  }

  get #isInitialized(): boolean {
    return this.#era === 'legacy' && this.#server?.getClientCapabilities() !== undefined;
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
    this.#era = era;
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
    this.#serve(server, 'tools/call', (params, cancelled) =>
      callTool(this.#options.session, readCallParams(params), cancelled),
    );
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
  #serve(
    server: Server,
    method: string,
    act: (params: Params, cancelled: AbortSignal) => Result | Promise<Result>,
  ): void {
    server.setRequestHandler(method, { params: AS_IT_IS }, async (params, { mcpReq: { id, signal } }) => {
      // Cancelled before it began: no answer is sent, whatever it is.
      if (signal.aborted) return {};
      const end = this.#transport.begin(id);
      try {
        return await act(params, signal);
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
    throw new RequestRefused(TOO_MANY_RESOURCES.code, TOO_MANY_RESOURCES.message);
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

const ID_IN_USE: RpcError = {
  code: RPC.invalidRequest,
  message: 'Invalid request: another one with this id is under way',
};

const INITIALIZED: RpcError = {
  code: RPC.invalidRequest,
  message: 'Invalid request: the session is initialized already',
};

/** Parameters are read by what answers. */
const AS_IT_IS: StandardSchemaV1<Params> = {
  '~standard': { version: 1, vendor: 'rootsd', validate: (value) => ({ value: value as Params }) },
};

type NoticeMethod =
  | 'notifications/resources/list_changed'
  | 'notifications/resources/updated'
  | 'notifications/prompts/list_changed';
