// A host of few lines: starts a command, writes requests, hears of the lines that come back.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const CLIENT = { protocolVersion: '2025-11-25', clientInfo: { name: 'host', version: '1' } };

export class StdioHost {
  process;
  ended;
  #waiting = new Map();
  #nextId = 1;

  /** `onRequest` answers what the server asks; `onStderr` gets the lines of standard error. */
  constructor([command, ...args], { env = process.env, cwd, onRequest, onStderr } = {}) {
    this.process = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', onStderr ? 'pipe' : 'ignore'] });
    this.ended = once(this.process, 'close');
    this.process.stdin.on('error', () => {});
    createInterface({ input: this.process.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      if (message.method === undefined) this.#waiting.get(message.id)?.(message);
      else if (message.id !== undefined) onRequest?.(message, (result) => this.send({ id: message.id, result }));
    });
    if (onStderr) createInterface({ input: this.process.stderr }).on('line', onStderr);
  }

  send(message) {
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** Rejects where the process ends first. */
  request(method, params) {
    const id = this.#nextId++;
    this.send({ id, method, params });
    const reply = new Promise((resolve) => this.#waiting.set(id, resolve));
    return Promise.race([reply, this.ended.then(([status]) => Promise.reject(new Error(`ended with ${status}`)))]);
  }

  initialize(capabilities = {}) {
    return this.request('initialize', { ...CLIENT, capabilities });
  }

  initialized() {
    this.send({ method: 'notifications/initialized' });
  }

  /** Ends its input and waits for the end. */
  close() {
    this.process.stdin.end();
    return this.ended;
  }
}
