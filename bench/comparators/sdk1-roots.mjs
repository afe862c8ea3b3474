// A host of the MCP SDK 1.x that answers `roots/list` itself. Usage: node sdk1-roots.mjs URI COMMAND ARG…
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [uri, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'host', version: '1' }, { capabilities: { roots: { listChanged: true } } });
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri, name: 'a' }] }));
await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));
process.stdin.resume().once('end', () => client.close());
