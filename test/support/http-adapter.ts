// The endpoint over HTTP, for tools that speak nothing else. Of the revisions with a handshake a session is a connection to the
// daemon's socket; of 2026-07-28 each request is one. Names that such a tool has of its own are exchanged for ours on the way in,
// and back on the way out.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { connectPeer, type RawPeer, type Reply } from '../socket/raw-peer.ts';
import { listenHttp } from './listen-http.ts';
import { MODERN_META } from './mcp-peer.ts';

interface Message {
  readonly id?: string | number;
  readonly method?: string;
}

class Session {
  readonly peer: RawPeer;
  readonly #waiting = new Map<unknown, (reply: Reply) => void>();

  constructor(peer: RawPeer) {
    this.peer = peer;
    void this.#read();
  }

  async ask(message: Message): Promise<Reply> {
    return new Promise((resolve) => {
      this.#waiting.set(message.id, resolve);
      this.peer.send(message);
    });
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const message = await this.peer.next();
        if (message.method === undefined) this.#waiting.get(message.id)?.(message);
      }
    } catch {
      // The connection has ended.
    }
  }
}

/** Serves; the URL. */
export async function openHttpAdapter(
  t: Pick<TestContext, 'after'>,
  path: string,
  names: Readonly<Record<string, string>>,
): Promise<string> {
  const sessions = new Map<string, Session>();
  const inwards = (text: string) =>
    Object.entries(names).reduce((all, [theirs, ours]) => all.replaceAll(theirs, ours), text);
  const outwards = (reply: Reply) =>
    Object.entries(names).reduce((all, [theirs, ours]) => all.replaceAll(ours, theirs), JSON.stringify(reply));

  const answerLegacy = async (message: Message, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = String(request.headers['mcp-session-id'] ?? randomUUID());
    const session = sessions.get(id) ?? new Session(await connectPeer(t, path));
    sessions.set(id, session);
    if (message.id === undefined) {
      session.peer.send(message);
      response.writeHead(202).end();
      return;
    }
    const reply = outwards(await session.ask(message));
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': id }).end(reply);
  };

  const answerModern = async (message: Message, response: ServerResponse): Promise<void> => {
    const peer = await connectPeer(t, path);
    response.on('close', () => peer.socket.destroy());
    // What the header says over HTTP, a client of the socket says by how it opens.
    await peer.request('tools/list', { _meta: MODERN_META });
    peer.send(message);
    if (message.method === 'subscriptions/listen') return stream(peer, response, outwards);
    let reply = await peer.next();
    while (reply.method !== undefined) reply = await peer.next();
    response.writeHead(statusOf(reply), { 'content-type': 'application/json' }).end(outwards(reply));
  };

  return listenHttp(t, async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
      return;
    }
    const message = JSON.parse(inwards(JSON.stringify(await json(request)))) as Message;
    const revision = request.headers['mcp-protocol-version'] ?? '';
    if (revision >= '2026-07-28') await answerModern(message, response);
    else await answerLegacy(message, request, response);
  });
}

/** All that comes, as events, until either side ends. */
async function stream(peer: RawPeer, response: ServerResponse, text: (reply: Reply) => string): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  try {
    for (;;) response.write(`data: ${text(await peer.next())}\n\n`);
  } catch {
    response.end();
  }
}

/** As the revision says of its errors: -32601 is a method that is not there, -32602 and the revision's own are bad requests. */
function statusOf({ error }: Reply): number {
  if (error === undefined) return 200;
  return error.code === -32601 ? 404 : 400;
}
