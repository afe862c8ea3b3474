// A server on RootsGuard over HTTP, as the SDK serves it: whatever it is asked to do, it says its roots.
import type { TestContext } from 'node:test';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { RootsGuard } from '../../src/lib/roots-guard.ts';
import { listenHttp } from './listen-http.ts';

/** Serves; the URL. */
export function openGuardedHttp(
  t: Pick<TestContext, 'after'>,
  { tools, prompts }: { readonly tools: readonly string[]; readonly prompts: readonly string[] },
): Promise<string> {
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'guarded', version: '1' });
    const guard = new RootsGuard(mcp);
    const said = async () => ({ type: 'text' as const, text: JSON.stringify(await guard.roots()) });
    const call = guard.handler(async (_context: unknown) => ({ content: [await said()] }));
    const get = guard.handler(async (_context: unknown) => ({
      messages: [{ role: 'user' as const, content: await said() }],
    }));
    for (const name of tools) mcp.registerTool(name, {}, call);
    for (const name of prompts) mcp.registerPrompt(name, {}, get);
    return mcp;
  });
  t.after(() => handler.close());
  return listenHttp(t, async (request, response) => {
    const chunks: Buffer[] = await request.toArray();
    const { method = 'POST', url = '', headers } = request;
    const body = method === 'POST' ? { body: Buffer.concat(chunks) } : {};
    const answer = await handler.fetch(
      new Request(`http://localhost${url}`, { method, headers: headers as Record<string, string>, ...body }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
  });
}
