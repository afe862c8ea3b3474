// A host that is started at a terminal: starts a server by the command line given, and leaves it its standard error.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

send({
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'host', version: '1' } },
});
createInterface({ input: server.stdout }).once('line', () => send({ method: 'notifications/initialized' }));
// Whoever types to us ends us; a program of ours that asks at the terminal is typed to itself.
process.on('SIGHUP', () => process.exit());
