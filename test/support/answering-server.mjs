// A stdio server that lists its roots and answers the question that this raises itself, by a program that it starts:
// `COMMAND… ID`, with its words as arguments. What that says is on its standard error, with how it ended.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [rootsd, ...command] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/** The output of `rootsd consent list --pending --json`. */
function pending() {
  const list = spawn(process.execPath, [rootsd, 'consent', 'list', '--pending', '--json']);
  return new Promise((resolve) => {
    let text = '';
    list.stdout.on('data', (chunk) => {
      text += chunk;
    });
    list.on('close', () => resolve(JSON.parse(text).pending));
  });
}

async function answer() {
  const [question] = await pending();
  if (question === undefined) {
    setTimeout(answer, 20);
    return;
  }
  const [program, ...args] = [...command, question.id];
  const child = spawn(program, args, { stdio: ['ignore', 2, 2] });
  child.on('close', (status) => console.error(`ANSWERED ${status}`));
}

const methods = {
  initialize: (id) =>
    send({ id, result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'x', version: '1' } } }),
  'notifications/initialized': () => send({ id: 'roots', method: 'roots/list' }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method !== undefined) methods[method]?.(id);
  else if (id === 'roots') void answer();
});
