// The same as sdk1-proxy.mjs with the MCP SDK 2.x. Usage: node sdk2-proxy.mjs COMMAND ARG…
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const [command, ...args] = process.argv.slice(2);
/** Takes everything, as a schema. */
const ANY = { '~standard': { version: 1, vendor: 'bench', validate: (value) => ({ value }) } };

const client = new Client({ name: 'proxy', version: '1' }, { capabilities: { roots: { listChanged: true } } });
await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
const server = new Server(client.getServerVersion(), { capabilities: client.getServerCapabilities() });
server.fallbackRequestHandler = ({ method, params }) => client.request({ method, params }, ANY);
server.fallbackNotificationHandler = (notification) => client.notification(notification);
client.fallbackRequestHandler = ({ method, params }) => server.request({ method, params }, ANY);
client.fallbackNotificationHandler = (notification) => server.notification(notification);
await server.connect(new StdioServerTransport());
process.stdin.once('end', async () => {
  await client.close();
  process.exit();
});
