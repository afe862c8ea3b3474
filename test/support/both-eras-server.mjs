// A server of the SDK 2.x that serves both eras. Its tools ask for roots as that SDK has it: within a result where the request
// is of revision 2026-07-28, by a request of its own in the legacy era.

import { appendFileSync } from 'node:fs';
import { acceptedContent, fromJsonSchema, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

/** Where each process of this server writes its number. */
const { PIDS } = process.env;
if (PIDS !== undefined) appendFileSync(PIDS, `${process.pid}\n`);

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

function makeServer() {
  const server = new McpServer({ name: 'asking', version: '1' });
  const say = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
  const urisIn = (ctx) => {
    const view = inputResponse(ctx.mcpReq.inputResponses, 'roots');
    return view.kind === 'roots' ? view.roots.map(({ uri }) => uri) : null;
  };

  server.registerTool('where', { description: 'Says its roots' }, (ctx) => {
    const uris = urisIn(ctx);
    if (uris === null)
      return inputRequired({ inputRequests: { roots: inputRequired.listRoots() }, requestState: 'é "x"' });
    return say({ uris, state: ctx.mcpReq.requestState() });
  });

  server.registerTool('who', { description: 'Says its roots, and a name that it asks for' }, (ctx) => {
    const uris = urisIn(ctx);
    const who = acceptedContent(ctx.mcpReq.inputResponses, 'who');
    if (uris !== null && who !== undefined) return say({ uris, name: who.name });
    const elicit = inputRequired.elicit({ message: 'Who?', requestedSchema: NAME });
    return inputRequired({ inputRequests: { who: elicit, roots: inputRequired.listRoots() } });
  });

  server.registerTool('grow', { description: 'Has one more tool from then on' }, () => {
    server.registerTool('late', { description: 'Says nothing' }, () => say({}));
    return say({});
  });

  const inputSchema = fromJsonSchema({ type: 'object', properties: { text: { type: 'string' } } });
  server.registerTool('echo', { description: 'Says what it is told', inputSchema }, ({ text }) => say({ text }));
  return server;
}

serveStdio(makeServer);
