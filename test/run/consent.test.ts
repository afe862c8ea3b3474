// What a person gives and takes back, at the server behind `rootsd run`: with a real daemon, through each kind of channel.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ConsentReply } from '../../src/daemon/consent-rows.ts';
import { ASKS, list, onlyQuestion, served } from '../support/asking-home.ts';
import { OBEDIENT_SERVER, RunHost } from '../support/run-host.ts';
import { ROOTSD, type TestHome } from '../support/serve.ts';

function host(t: TestContext, home: TestHome, ...args: readonly string[]): RunHost {
  const server = [process.execPath, OBEDIENT_SERVER, ...args];
  const options = ['run', '--socket', home.socket, '--server', 'fs', '--', ...server];
  return new RunHost(t, { program: ROOTSD, args: options, env: home.env });
}

/** The question that the server's list has raised. */
async function asked(home: TestHome): Promise<ConsentReply['pending'][number]> {
  while ((await list(home)).pending.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  return onlyQuestion(home);
}

/** Asks until the answer is the one that is waited for: a change reaches the server by itself, some moment later. */
async function until<T>(ask: () => Promise<T>, isIt: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isIt(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a server that lists its roots hears of what is given and of what is taken back', async (t) => {
  const { home } = await served(t);
  const run = host(t, home);
  await run.initialize();
  const names = async () => {
    const { result } = (await run.ask('roots')) as { result: { roots: readonly { readonly name: string }[] } };
    return result.roots.map(({ name }) => name);
  };
  const heard = () => run.ask('list-changed') as Promise<number>;
  assert.deepEqual((await list(home)).pending, [], 'who has not asked for its list asks nobody');
  // Nothing is told by an empty directory, which the list of a server that is not known holds instead.
  assert.deepEqual(await names(), ['no access (rootsd)']);
  const { id, class: peerClass } = await asked(home);
  assert.equal(peerClass, 'launched');
  await home.json('consent', 'approve', id, '--scope', '8h');
  await until(heard, (count) => count >= 1);
  assert.deepEqual(await names(), ['A']);
  await home.json('consent', 'revoke', '--all');
  await until(heard, (count) => count >= 2);
  assert.deepEqual(await names(), ['no access (rootsd)']);
});

test('a server that is told by its arguments is started again with what is given, and without what is taken back', async (t) => {
  const { home } = await served(t, `${ASKS}\nservers: { fs: { channels: [argv] } }`);
  const run = host(t, home, '{roots}');
  await run.initialize();
  const argv = () => run.ask('argv') as Promise<readonly string[]>;
  const path = join(home.home, 'a');
  assert.equal((await argv()).includes(path), false);
  await home.json('consent', 'approve', (await asked(home)).id, '--scope', 'session');
  await until(argv, (given) => given.includes(path));
  await home.json('consent', 'revoke', '--root', 'a');
  const after = await until(argv, (given) => !given.includes(path));
  assert.ok(after.every((place) => existsSync(place)));
});
