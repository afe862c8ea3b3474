// The file server of hand-written-server.mjs on RootsGuard.
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { RootsGuard } from 'rootsd/server';

const properties = { path: { type: 'string' }, text: { type: 'string' } };
const inputSchema = fromJsonSchema({ type: 'object', properties, required: ['path'] });

serveStdio(() => {
  const mcp = new McpServer({ name: 'files', version: '1' });
  const guard = new RootsGuard(mcp);
  const using = (flags, work) => async (args) => {
    const file = await guard.open(args.path, flags);
    const text = (await work(file, args).finally(() => file.close())) ?? 'done';
    return { content: [{ type: 'text', text }] };
  };
  mcp.registerTool('read', { inputSchema }, guard.handler(using('r', (file) => file.readFile('utf8'))));
  mcp.registerTool('write', { inputSchema }, guard.handler(using('w', (file, { text = '' }) => file.writeFile(text))));
  return mcp;
});
