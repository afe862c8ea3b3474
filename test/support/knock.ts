// Asks at the socket $KNOCK_AT for everything, and prints what comes: { error, received }.
import { connect } from 'node:net';

const socket = connect(process.env.KNOCK_AT ?? '');
const result: { error: string | null; received: unknown[] } = { error: null, received: [] };
let text = '';

socket.on('connect', () => {
  const params = { version: 1, server: 's' };
  for (const method of ['rootsd/attach', 'roots/list', 'rootsd/status', 'rootsd/sessions']) {
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: method, method, params })}\n`);
  }
});
socket.on('data', (chunk) => {
  text += chunk;
});
socket.on('error', ({ code }: NodeJS.ErrnoException) => {
  // Whoever is refused is cut off while it still writes.
  if (code !== 'EPIPE' && code !== 'ECONNRESET') result.error = code ?? '';
});
socket.on('close', () => {
  result.received = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  console.log(JSON.stringify(result));
});
