// Ends, by status 3, at the point of the protocol that its argument names.

import { createInterface } from 'node:readline';

const point = process.argv[2];
const end = () => process.stdout.write('', () => process.exit(3));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const at = (name) => {
  if (name === point) end();
  return name === point;
};

at('start');
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, result } = JSON.parse(line);
    if (method === 'initialize') {
      if (at('initialize')) return;
      if (point === 'mid-answer') {
        process.stdout.write('{"jsonrpc":"2.0","id":');
        return void end();
      }
      send({
        id,
        result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'c', version: '1' } },
      });
      at('answered');
    } else if (method === 'notifications/initialized') {
      if (at('initialized')) return;
      send({ id: 'r', method: 'roots/list' });
      at('asked');
    } else if (result !== undefined) at('told');
    else if (method === 'call') {
      if (at('call')) return;
      if (point === 'mid-long-answer') {
        process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":"${'x'.repeat(100_000)}`);
        return void end();
      }
      send({ id, result: null });
      at('called');
    }
  })
  .on('close', () => at('end'));
