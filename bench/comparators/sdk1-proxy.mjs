// What one writes with the MCP SDK 1.x: a server towards the host, a client towards the server, each message handed on.
// Usage: node sdk1-proxy.mjs COMMAND ARG…
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';

const [command, ...args] = process.argv.slice(2);

const client = new Client({ name: 'proxy', version: '1' }, { capabilities: { roots: { listChanged: true } } });
await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
const server = new Server(client.getServerVersion(), { capabilities: client.getServerCapabilities() });
server.fallbackRequestHandler = ({ method, params }) => client.request({ method, params }, ResultSchema);
server.fallbackNotificationHandler = (notification) => client.notification(notification);
client.fallbackRequestHandler = ({ method, params }) => server.request({ method, params }, ResultSchema);
client.fallbackNotificationHandler = (notification) => server.notification(notification);
await server.connect(new StdioServerTransport());
process.stdin.once('end', async () => {
  await client.close();
  process.exit();
});
