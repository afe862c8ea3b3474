// A stdio server that asks for its roots when it is initialized and at each change, so many ms late, and takes them up so
// many ms after the answer. A call answers with the names of the roots that it works by.

import { createInterface } from 'node:readline';

const [lateMs = 0, slowMs = 0] = process.argv.slice(2).map(Number);
let names = [];
let asked = 0;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const ask = () =>
  setTimeout(() => {
    asked += 1;
    send({ id: asked, method: 'roots/list' });
  }, lateMs);

const lines = createInterface({ input: process.stdin });
lines.on('close', () => process.exit());
lines.on('line', (line) => {
  const { id, method, result } = JSON.parse(line);
  if (method === 'initialize')
    send({ id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} } });
  else if (method === 'notifications/initialized' || method === 'notifications/roots/list_changed') ask();
  else if (method === 'tools/call') send({ id, result: names });
  else if (method === 'ping') send({ id, result: {} });
  else if (result !== undefined) {
    setTimeout(() => {
      names = result.roots.map(({ name }) => name);
    }, slowMs);
  }
});
