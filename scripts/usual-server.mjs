// A server that asks for its roots as soon as it may. `rootsd run` stands in front of it when it is compiled.
import { createInterface } from 'node:readline';

const RESULTS = {
  initialize: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'usual', version: '1' } },
  ping: {},
};
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === 'notifications/initialized') say({ id: 'roots', method: 'roots/list' });
  else if (method !== undefined) say({ id, result: RESULTS[method] });
}
