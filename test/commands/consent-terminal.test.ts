// An answer that may be an MCP server's is asked again at the controlling terminal.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AT_TERMINAL, NEEDS_TERMINAL, TestTerminal } from '../support/agent.ts';
import { ASKS, list, PATIENT, served } from '../support/asking-home.ts';
import { ROOTSD } from '../support/serve.ts';

const SUPPORT = fileURLToPath(new URL('../support/', import.meta.url));
const APPROVE = [process.execPath, ROOTSD, 'consent', 'approve', '--scope', '8h'];

/** A host at a terminal, whose server answers its question by this command. */
async function answering(t: TestContext, command: readonly string[] = APPROVE) {
  const { home } = await served(t, ASKS, PATIENT);
  const server = [process.execPath, join(SUPPORT, 'answering-server.mjs'), ROOTSD, ...command];
  const run = [process.execPath, ROOTSD, 'run', '--socket', home.socket, '--server', 'fs', '--', ...server];
  const terminal = new TestTerminal(t, home.env, [process.execPath, join(SUPPORT, 'host-at-terminal.mjs'), ...run]);
  return { home, terminal };
}

/** The code that is shown, once it is asked for. */
async function codeAt(terminal: TestTerminal): Promise<string> {
  const shown = await terminal.sees(/type this code where you are asked for it: \d{6}/);
  await terminal.sees(/rootsd: code \(empty: no answer\): /);
  return shown.slice(-6);
}

test('what a person types there counts: the question stands there with a code', NEEDS_TERMINAL, async (t) => {
  const { home, terminal } = await answering(t);
  const code = await codeAt(terminal);
  for (const shown of ['"fs" (launched) asks for read-write access', join(home.home, 'a'), 'yes (8h, read-write)']) {
    assert.ok(terminal.shown.includes(shown), `${shown} in ${terminal.shown}`);
  }
  terminal.type(`${code}\r`);
  await terminal.sees(/ANSWERED 0/);
  const { grants, pending } = await list(home);
  assert.deepEqual([grants[0]?.scope, pending], ['8h', []]);
});

test('an empty line or another code is no answer, and the question stays open', NEEDS_TERMINAL, async (t) => {
  for (const typed of ['', '0000000']) {
    const { home, terminal } = await answering(t);
    await codeAt(terminal);
    terminal.type(`${typed}\r`);
    await terminal.sees(typed === '' ? /CONSENT_CODE/ : /the code is another one/);
    await terminal.sees(/ANSWERED 77/);
    const { grants, pending } = await list(home);
    assert.deepEqual([grants, pending.length], [[], 1]);
  }
});

test('a no of a server is asked again too', NEEDS_TERMINAL, async (t) => {
  const { home, terminal } = await answering(t, [process.execPath, ROOTSD, 'consent', 'deny']);
  const code = await codeAt(terminal);
  assert.match(terminal.shown, /answers: no\./);
  terminal.type(`${code}\r`);
  await terminal.sees(/ANSWERED 0/);
  assert.deepEqual(
    (await list(home)).history.map(({ event }) => event),
    ['denied'],
  );
});

test('at a terminal that the server has made itself nobody is asked', NEEDS_TERMINAL, async (t) => {
  const own = ['python3', '-c', AT_TERMINAL, ...APPROVE];
  const { home, terminal } = await answering(t, ['sh', '-c', 'sleep 1000 | "$@"', 'sh', ...own]);
  await terminal.sees(/CONSENT_NEEDS_TERMINAL/);
  assert.ok(!terminal.shown.includes('type this code'));
  assert.equal((await list(home)).pending.length, 1);
});

test('an answer that could not count is not asked about', NEEDS_TERMINAL, async (t) => {
  const { terminal } = await answering(t, [process.execPath, ROOTSD, 'consent', 'approve', '--scope', '24h']);
  await terminal.sees(/the scope "24h" is not offered/);
  await terminal.sees(/ANSWERED 64/);
  assert.ok(!terminal.shown.includes('type this code'));
});
