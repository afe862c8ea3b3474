// A server on the Unix socket of its argument that is an SDK 1.x `Client` per connection, as a host has one per server. It
// tells three roots; on the message "change" one of them becomes another, and the answer is when (ns of CLOCK_MONOTONIC).
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const clients = new Set();
const listOf = (names) => names.map((name) => ({ uri: `file:///home/ana/repos/${name}`, name }));
const lists = [listOf(['frontend', 'backend', 'docs']), listOf(['frontend', 'backend', 'tools'])];
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
process.on('message', (question) => {
  if (question !== 'change') return;
  const begun = process.hrtime.bigint();
  changes += 1;
  for (const client of clients) void client.sendRootsListChanged();
  process.send(String(begun));
});
process.on('disconnect', () => process.exit());
process.send('ready');
