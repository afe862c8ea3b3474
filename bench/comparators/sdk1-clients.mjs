// A server on the Unix socket of its argument that is an SDK 1.x `Client` per connection, as a host has one per server.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { answerParent, NAMES } from '../measured-server.mjs';

const clients = new Set();
const listOf = (names) => names.map((name) => ({ uri: `file:///home/ana/repos/${name}`, name }));
const lists = [listOf(NAMES.slice(0, 3)), listOf(NAMES.slice(1))];
let changes = 0;

const server = createServer((socket) => {
  const client = new Client({ name: 'host', version: '1' }, { capabilities: { roots: { listChanged: true } } });
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: lists[changes % 2] }));
  clients.add(client);
  socket.on('error', () => {});
  socket.on('close', () => clients.delete(client));
  client.connect(new StdioServerTransport(socket, socket)).catch(() => {});
});
server.listen({ path: process.argv[2], backlog: 4_096 });
await once(server, 'listening');
answerParent(() => {
  changes += 1;
  for (const client of clients) void client.sendRootsListChanged();
});
