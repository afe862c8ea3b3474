// A peer of few lines on a socket of the daemon.
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';

export class Peer {
  socket;
  closed;
  #waiting = new Map();
  #nextId = 1;

  constructor(path) {
    this.socket = createConnection(path);
    this.closed = new Promise((resolve) => this.socket.once('close', resolve));
    // It emits the errors of its input again: what `closed` says is enough.
    createInterface({ input: this.socket })
      .on('line', (line) => this.#take(JSON.parse(line)))
      .on('error', () => {});
  }

  notify(method, params) {
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  }

  /** Resolves with the reply, or with null where the connection closes first. */
  request(method, params) {
    const id = this.#nextId++;
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return Promise.race([
      new Promise((resolve) => this.#waiting.set(id, resolve)),
      this.closed.then(() => null),
    ]).finally(() => this.#waiting.delete(id));
  }

  attach(server) {
    return this.request('rootsd/attach', { version: 1, server });
  }

  /** Gets every view from now on and says so. */
  watch() {
    return this.request('rootsd/watch', {});
  }

  close() {
    this.socket.destroy();
    return this.closed;
  }

  #take(message) {
    const { id, method, params } = message;
    if (method === undefined) this.#waiting.get(id)?.(message);
    if (method === 'rootsd/view') this.notify('rootsd/ack', { generation: params.generation, serial: params.serial });
  }
}
