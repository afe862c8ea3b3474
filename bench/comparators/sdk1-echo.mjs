// A real server of the MCP SDK 1.x that answers every request with its own parameters.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new Server({ name: 'echo', version: '1' }, { capabilities: {} });
server.fallbackRequestHandler = async ({ params }) => params;
await server.connect(new StdioServerTransport());
process.stdin.once('end', () => process.exit());
