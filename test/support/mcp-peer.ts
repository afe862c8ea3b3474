// An MCP client of few lines, of either era, on the daemon's socket.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { connectPeer, type RawPeer, type Reply } from '../socket/raw-peer.ts';

export type Era = 'legacy' | 'modern';
export const ERAS: readonly Era[] = ['legacy', 'modern'];

/** What each request of revision 2026-07-28 says. */
export const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export interface Who {
  readonly server?: string;
  readonly host?: string;
}

export class McpPeer {
  readonly peer: RawPeer;
  readonly era: Era;
  /** Notifications that have come and were not taken. */
  readonly #notices: Reply[] = [];
  readonly #replies = new Map<unknown, Reply>();
  #nextId = 1;
  #taking: Promise<void> | null = null;

  constructor(peer: RawPeer, era: Era) {
    this.peer = peer;
    this.era = era;
  }

  /** Sends a request; its id. */
  send(method: string, params: object = {}): number {
    const id = this.#nextId++;
    this.peer.send({ jsonrpc: '2.0', id, method, params: this.#with(params) });
    return id;
  }

  notify(method: string, params: object = {}): void {
    this.peer.notify(method, this.#with(params));
  }

  async ask(method: string, params: object = {}): Promise<Reply> {
    return this.reply(this.send(method, params));
  }

  async reply(id: number): Promise<Reply> {
    for (;;) {
      const reply = this.#replies.get(id);
      if (reply !== undefined) return reply;
      await this.#taken();
    }
  }

  /** The result of a request that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at what came, whatever it is.
  async result(method: string, params: object = {}): Promise<any> {
    const { result, error } = await this.ask(method, params);
    assert.equal(error, undefined, JSON.stringify(error));
    return result;
  }

  /** What a tool answers. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async call(name: string, args: object = {}): Promise<any> {
    const { structuredContent, content, isError } = await this.result('tools/call', { name, arguments: args });
    return isError === true ? { isError, text: content[0].text } : structuredContent;
  }

  async notice(): Promise<Reply> {
    for (;;) {
      const notice = this.#notices.shift();
      if (notice !== undefined) return notice;
      await this.#taken();
    }
  }

  /** One message is taken for all that wait. */
  #taken(): Promise<void> {
    this.#taking ??= this.#take().finally(() => {
      this.#taking = null;
    });
    return this.#taking;
  }

  async #take(): Promise<void> {
    const message = await this.peer.next();
    if (message.method === undefined) this.#replies.set(message.id, message);
    else this.#notices.push(message);
  }

  #with(params: object): object {
    return this.era === 'legacy' ? params : { ...params, _meta: MODERN_META };
  }
}

/** Connects, says who it is where that is given, and opens. A modern client listens to all that can be listened to. */
export async function openMcpPeer(
  t: Pick<TestContext, 'after'>,
  path: string,
  era: Era,
  { server, host }: Who = {},
): Promise<McpPeer> {
  const raw = await connectPeer(t, path);
  if (server !== undefined || host !== undefined) {
    const { error } = await raw.request('rootsd/endpoint', { version: 1, server: server ?? null, host: host ?? null });
    assert.equal(error, undefined);
  }
  const peer = new McpPeer(raw, era);
  if (era === 'modern') {
    await peer.result('server/discover');
    return peer;
  }
  const clientInfo = { name: 'test', version: '1' };
  await peer.result('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  peer.notify('notifications/initialized');
  return peer;
}

/** Asks to hear of changes; a legacy client hears of lists without asking. */
export async function listen(peer: McpPeer, uris: readonly string[] = []): Promise<void> {
  if (peer.era === 'legacy') {
    for (const uri of uris) await peer.result('resources/subscribe', { uri });
    return;
  }
  const notifications = { resourcesListChanged: true, promptsListChanged: true, resourceSubscriptions: uris };
  peer.send('subscriptions/listen', { notifications });
  assert.equal((await peer.notice()).method, 'notifications/subscriptions/acknowledged');
}
