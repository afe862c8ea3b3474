// Bytes from a peer, a host or a server: cut into lines, read as messages, their parameters read, single members changed.
import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { LineReader } from '../../src/core/line-reader.ts';
import { parseMessage, readMessage as readLine } from '../../src/run/message.ts';
import { applyEdits, objectAt, setMember } from '../../src/run/splice.ts';
import { errorReply, type Message, Refusal, readMessage, resultReply } from '../../src/socket/message.ts';
import { isTooDeep } from '../../src/socket/nesting.ts';
import { readAck, readAttachParams, readHostRootsParams } from '../../src/socket/peer-params.ts';
import { material, type Target } from './target.ts';

export const LINES = [
  '{"jsonrpc":"2.0","id":1,"method":"rootsd/attach","params":{"version":1,"server":"filesystem","host":"vscode","launch":{"argv":["npx","-y","x"],"cwd":"/home/ana"},"project":"/home/ana/p"}}',
  '{"jsonrpc":"2.0","id":2,"method":"roots/list"}',
  '{"jsonrpc":"2.0","id":"three","method":"rootsd/watch","params":{}}',
  '{"jsonrpc":"2.0","method":"rootsd/ack","params":{"generation":"18b6f0a9d7c23e51","serial":2}}',
  '{"jsonrpc":"2.0","id":4,"method":"rootsd/hostRoots","params":{"roots":[{"uri":"file:///home/ana","name":"x"}]}}',
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}',
  '{"jsonrpc":"2.0","id":5,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}',
  '{"jsonrpc":"2.0","id":6,"method":"rootsd/status","params":{}}',
  '{"jsonrpc":"2.0","id":7,"method":"rootsd/sessions"}',
  '{"jsonrpc":"2.0","id":8,"method":"rootsd/reload","params":{"wait":true}}',
  '{"jsonrpc":"2.0","id":9,"method":"rootsd/explain","params":{"server":"filesystem","target":"/home/ana/a"}}',
  '{"jsonrpc":"2.0","id":10,"method":"rootsd/roots","params":{"server":"filesystem","host":"h","user":"ana"}}',
  '{"result":{"content":[{"type":"text","text":"a\\"b\\\\"}]},"jsonrpc":"2.0","id":11}',
  '{"jsonrpc":"2.0","id":12,"error":{"code":-32601,"message":"no"}}',
  '{"method":"tools/call","params":{"name":"x","arguments":{"path":"/a"}},"jsonrpc":"2.0","id":9007199254740993}',
  '[{"jsonrpc":"2.0","id":1,"method":"roots/list"},{"jsonrpc":"2.0","method":"x"}]',
  '{ "jsonrpc" : "2.0" , "id" : null , "method" : "\\u0072oots/list" }',
];
export const WORDS = [
  '"id":',
  '"method":',
  '"params":',
  '"result":',
  '"error":',
  '"jsonrpc":"2.0"',
  'null',
  'true',
  '1e400',
  '-0',
  '1.0',
  '9007199254740993',
  '{}',
  '[]',
  '[[[[[[[[',
  '{"a":',
  '\\u0000',
  '\\ud800',
  '\\/',
  '\n',
  '\r\n',
  '\ufeff',
  '"__proto__":',
  '"roots/list"',
  '"notifications/x"',
  ',',
  '"',
];

const LIMIT = 1_024;
const WHOLE = [
  ...LINES.map((line) => `${line}\n`),
  `${LINES.slice(0, 5).join('\r\n')}\r\n`,
  `${'['.repeat(200)}${']'.repeat(200)}\n`,
];

export const messages: Target = {
  name: 'messages',
  batch: 200,
  ...material(WHOLE, WORDS),

  check(input) {
    const lines = linesOf(input, [input]);
    assert.deepEqual(linesOf(input, pieces(input)), lines);
    assert.deepEqual(lines, expectedLines(input));
    for (const line of lines) if (line !== 'too-large') checkLine(Buffer.from(line, 'latin1'));
  },
};

/** All lines that a reader gives for these chunks, as latin1; `too-large` ends them. */
function linesOf(input: Buffer, chunks: readonly Buffer[]): readonly string[] {
  const reader = new LineReader(LIMIT);
  const lines: string[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    for (let line = reader.next(); line !== null; line = reader.next()) {
      lines.push(line === 'too-large' ? line : line.toString('latin1'));
      if (line === 'too-large') return lines;
    }
  }
  assert.equal(reader.isInsideLine, input.length > 0 && input.at(-1) !== 0x0a);
  return lines;
}

/** Pieces of 1 to 7 bytes. */
function pieces(input: Buffer): readonly Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0, i = 1; at < input.length; at += i, i = (i % 7) + 1) cut.push(input.subarray(at, at + i));
  return cut;
}

function expectedLines(input: Buffer): readonly string[] {
  const parts = input.toString('latin1').split('\n');
  const rest = parts.pop() ?? '';
  const lines = parts.map((part) => part.replace(/\r$/, ''));
  const long = lines.findIndex((line) => line.length > LIMIT);
  if (long >= 0) return [...lines.slice(0, long), 'too-large'];
  // A line that goes on is too large once no carriage return can save it.
  return rest.length > LIMIT + 1 ? [...lines, 'too-large'] : lines;
}

function checkLine(line: Buffer): void {
  let value: unknown;
  try {
    value = JSON.parse(line.toString());
  } catch {
    assert.doesNotThrow(() => readLine(line));
    return;
  }
  // Only texts that are long enough to cost anything are looked at.
  if (line.length > 64 * 4) assert.equal(isTooDeep(line, 4), depthOf(value) > 4);
  if (!isUtf8(line)) return;
  checkMessage(readMessage(value));
  const keys = topLevelKeys(line.toString());
  if (keys === null || !isOneThing(keys)) return;
  assert.deepEqual(readLine(line), parseMessage(line));
  const edit = setMember(line, objectAt(line), { key: 'id', json: '"new"' });
  const changed = Buffer.concat(applyEdits(line, [edit]));
  assert.deepEqual(JSON.parse(changed.toString()), withOwn(value as object, 'id', 'new'));
}

function checkMessage(message: Message): void {
  if (message.kind === 'invalid') {
    assert.equal(JSON.parse(errorReply(message.id, message.error)).error.code, message.error.code);
  }
  if (message.kind !== 'request') return;
  // -0 comes back as 0: no other number, and no JSON reader tells them apart.
  assert.ok(JSON.parse(resultReply(message.id, '{}')).id === message.id);
  for (const read of [readAttachParams, readAck, readHostRootsParams]) {
    try {
      read(message.params);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }
}

/** How deep brackets are nested. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** The keys of an object as they stand, each as often as it does; null for another value. */
function topLevelKeys(text: string): readonly string[] | null {
  if (!/^\s*\{/.test(text)) return null;
  const keys: string[] = [];
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && token.endsWith(':')) keys.push(JSON.parse(token.slice(0, -1)) as string);
  }
  return keys;
}

/** No key twice, and not a call and an answer at once: what such a line means each reader decides for itself. */
function isOneThing(keys: readonly string[]): boolean {
  const isAnswer = keys.includes('result') || keys.includes('error');
  return new Set(keys).size === keys.length && !(isAnswer && keys.includes('method'));
}

/** A copy with one member set; JSON.parse() makes `__proto__` a member as any other, and so must this. */
function withOwn(value: object, key: string, member: unknown): object {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(value)) as object;
  Object.defineProperty(copy, key, { value: member, enumerable: true, configurable: true, writable: true });
  return copy;
}
