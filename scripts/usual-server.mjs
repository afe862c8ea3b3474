// A server as they are: one tool, which looks at the roots. `rootsd run` stands in front of it when it is compiled.
import { createInterface } from 'node:readline';

const RESULTS = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'usual', version: '1' },
  },
  'tools/list': {
    tools: [{ name: 'look', inputSchema: { type: 'object', properties: { path: { type: 'string' } } } }],
  },
};
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
let asked = 0;

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === 'tools/call') {
    asked = id;
    say({ id: 'roots', method: 'roots/list' });
  } else if (method === undefined) say({ id: asked, result: { content: [] } });
  else if (id !== undefined) say({ id, result: RESULTS[method] });
}
