// A stdio server without an SDK that does what its requests say. It keeps every line it gets.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const received = [];
/** Requests for roots that the host did not see: their answers, by the JSON text of the id. */
const waiting = new Map();
let listChanged = 0;

const write = (text) => process.stdout.write(text);
const send = (message) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const reply = (id, result) => send({ id, result });

/** With `--hold FILE`: as long as that file names the first argument, `initialize` is not answered; FILE.held says so. */
async function untilReleased() {
  const [first, option, file] = process.argv.slice(2);
  if (option !== '--hold') return;
  const isHeld = () => existsSync(file) && readFileSync(file, 'utf8') === first;
  if (isHeld()) writeFileSync(`${file}.held`, first);
  while (isHeld()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Sends raw text that holds a request, and resolves with the answer to that id. */
function ask(id, raw) {
  return new Promise((resolve) => {
    waiting.set(JSON.stringify(id), resolve);
    write(`${raw}\n`);
  });
}

/** How often each script was asked. */
const steps = new Map();

function follow(id, { name, uri, arguments: { script = [null], key = name ?? uri } = {} }) {
  const step = steps.get(key) ?? 0;
  steps.set(key, step + 1);
  const line = script[Math.min(step, script.length - 1)];
  if (line !== null) write(`${line.replaceAll('$ID', JSON.stringify(id))}\n`);
}

const methods = {
  initialize: async (id) => {
    await untilReleased();
    reply(id, { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'o', version: '1' } });
  },
  echo: (id, params) => reply(id, params),
  received: (id) => reply(id, received),
  argv: (id) => reply(id, process.argv.slice(2)),
  environment: (id) => reply(id, { env: process.env, cwd: process.cwd(), pid: process.pid, ppid: process.ppid }),
  'list-changed': (id) => reply(id, listChanged),
  /** Is answered when it ends; each start of it is told. */
  'subscriptions/listen': (id) =>
    send({ method: 'notifications/acknowledged', params: { id, argv: process.argv.slice(2) } }),
  /** Answers with the next line of a script, the id in place of $ID; the last one stays. null, or no script: no answer. */
  'tools/call': (id, params) => follow(id, params),
  'prompts/get': (id, params) => follow(id, params),
  'tools/list': (id, params) => follow(id, params),
  'resources/list': (id, params) => follow(id, params),
  'completion/complete': (id, params) => follow(id, params),
  'resources/read': (id, params) => follow(id, params),

  roots: async (id, { rootsId = 'r', raw }) => {
    const text = raw ?? JSON.stringify({ jsonrpc: '2.0', id: rootsId, method: 'roots/list' });
    reply(id, await ask(rootsId, text));
  },
  stdin: (id) => {
    try {
      reply(id, readFileSync('/dev/stdin', { flag: 'r' }).length);
    } catch (error) {
      reply(id, error.code);
    }
  },
  /** Starts a process that ignores TERM and keeps nothing open but what it inherits. */
  child: (id, { ignore = false }) => {
    const code = `${ignore ? 'process.on("SIGTERM",()=>{});' : ''}console.error("ready");setInterval(()=>{},1e9)`;
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.once('data', () => reply(id, child.pid));
  },
  raw: (id, { text }) => {
    write(text);
    reply(id, null);
  },
  later: (id, { ms }) => setTimeout(() => reply(id, 'later'), ms),
  never: () => undefined,
  exit: (_id, { status }) => process.stdout.write('', () => process.exit(status)),
  die: (_id, { signal }) => process.kill(process.pid, signal),
  stderr: (id, { bytes }) => {
    const block = Buffer.alloc(65536, 'e');
    for (let left = bytes; left > 0; left -= block.length) writeSync(2, block);
    reply(id, null);
  },
  big: (id, { bytes }) => reply(id, 'x'.repeat(bytes)),
  'ignore-term': (id) => {
    process.on('SIGTERM', () => undefined);
    reply(id, null);
  },
  'stay-on-end': (id) => {
    setInterval(() => undefined, 1e9);
    reply(id, null);
  },
  'on-term-exit': (id, { status }) => {
    process.on('SIGTERM', () => process.exit(status));
    setInterval(() => undefined, 1e9);
    reply(id, null);
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  received.push(line);
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return;
  }
  if (Array.isArray(message)) return;
  const { id, method, params = {} } = message;
  if (method === undefined) waiting.get(JSON.stringify(id))?.(message);
  if (method === 'notifications/roots/list_changed') listChanged += 1;
  if (id !== undefined && method !== undefined) {
    const act = methods[method];
    if (act === undefined) send({ id, error: { code: -32601, message: 'Method not found' } });
    else act(id, params);
  }
});
