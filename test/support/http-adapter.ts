// The endpoint over HTTP, for tools that speak nothing else: a session is a connection to the daemon's socket. Names that such a
// tool has of its own are exchanged for ours on the way in, and back on the way out.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { connectPeer, type RawPeer, type Reply } from '../socket/raw-peer.ts';

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
  const outwards = (text: string) =>
    Object.entries(names).reduce((all, [theirs, ours]) => all.replaceAll(ours, theirs), text);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'POST') {
      response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
      return;
    }
    const message = JSON.parse(inwards(JSON.stringify(await json(request)))) as Message;
    const id = String(request.headers['mcp-session-id'] ?? randomUUID());
    const session = sessions.get(id) ?? new Session(await connectPeer(t, path));
    sessions.set(id, session);
    if (message.id === undefined) {
      session.peer.send(message);
      response.writeHead(202).end();
      return;
    }
    const reply = outwards(JSON.stringify(await session.ask(message)));
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': id }).end(reply);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
