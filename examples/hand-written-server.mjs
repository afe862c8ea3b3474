// A file server as many are written: directories from the roots of its client, paths checked by hand. It stands here for what
// is wrong with it, see test/lib/examples.test.ts. guarded-server.mjs is the same on RootsGuard.
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const properties = { path: { type: 'string' }, text: { type: 'string' } };
const inputSchema = fromJsonSchema({ type: 'object', properties, required: ['path'] });
const say = (text) => ({ content: [{ type: 'text', text }] });

serveStdio(() => {
  const mcp = new McpServer({ name: 'files', version: '1' });
  let allowed = [];

  async function refresh() {
    try {
      const { roots } = await mcp.server.listRoots();
      if (roots.length > 0) allowed = roots.map(({ uri }) => fileURLToPath(uri));
    } catch {
      // The client has no roots.
    }
  }
  mcp.server.oninitialized = refresh;
  mcp.server.setNotificationHandler('notifications/roots/list_changed', refresh);

  function check(requested) {
    const path = resolve(requested);
    if (allowed.some((root) => path.startsWith(root))) return path;
    throw new Error(`Access denied: ${requested}`);
  }

  mcp.registerTool('read', { inputSchema }, async ({ path }) => say(await readFile(check(path), 'utf8')));
  mcp.registerTool('write', { inputSchema }, async ({ path, text = '' }) => {
    await writeFile(check(path), text);
    return say('done');
  });
  return mcp;
});
