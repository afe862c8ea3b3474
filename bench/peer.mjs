// Speaks JSON lines to a socket of the daemon.
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';

/** `request(method, params)` resolves to the result; `end()` closes the connection. */
export async function connectPeer(path) {
  const socket = createConnection(path);
  await once(socket, 'connect');
  const open = new Map();
  let last = 0;
  createInterface({ input: socket }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line);
    const { resolve, reject } = open.get(id) ?? {};
    open.delete(id);
    if (error === undefined) resolve?.(result);
    else reject?.(new Error(error.message));
  });
  const request = (method, params = {}) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      open.set(id, { resolve, reject });
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  return { request, end: () => socket.destroy() };
}
