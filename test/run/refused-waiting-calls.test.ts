// Calls that would wait for a person, and are refused or given up.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { list, onlyQuestion, ROOTS } from '../support/asking-home.ts';
import { askingRun, callOf, reached, refusal } from '../support/asking-run.ts';

test('a call that is refused says so in one sentence, and a person is not asked again in that session', async (t) => {
  const setup = await askingRun(t);
  const { home, host, shown } = setup;
  const path = join(home.home, 'a/f');
  const sentence = `Access denied by rootsd: "${path}" (in "path") needs a person's consent, and a person has refused it. This server may use no directory now`;
  host.send(callOf(path));
  await home.json('consent', 'deny', (await shown.next()).id);
  assert.equal(await refusal(host), sentence);
  host.send(callOf(path, 8));
  assert.equal(await refusal(host, 8), sentence);
  assert.deepEqual((await list(home)).pending, []);
  assert.deepEqual(await reached(setup), []);
});

test('a call is refused at once where nobody sees the question, which can be answered all the same', async (t) => {
  const { home, host, shown } = await askingRun(t);
  shown.close();
  const path = join(home.home, 'a');
  host.send(callOf(path));
  assert.match(await refusal(host), /needs a person's consent, and nobody can be asked now/);
  const { id } = await onlyQuestion(home);
  await host.said(`"rootsd consent approve ${id}"`);
  await home.json('consent', 'approve', id);
  host.send(callOf(path, 9));
  assert.equal((await host.next((message) => message.id === 9)).result, 'done');
});

test('a call that waits is refused when whoever saw the question has gone', async (t) => {
  const { home, host, shown } = await askingRun(t);
  host.send(callOf(join(home.home, 'a')));
  await shown.next();
  shown.close();
  assert.match(await refusal(host), /nobody can be asked now/);
  await onlyQuestion(home);
});

test('a call that the host gives up asks no more', async (t) => {
  const setup = await askingRun(t);
  const { home, host, shown } = setup;
  for (const id of [1, 2]) host.send(callOf(join(home.home, 'a'), id));
  await shown.next();
  while ((await onlyQuestion(home)).count < 2);
  host.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
  await host.ask('echo');
  await onlyQuestion(home);
  host.send({ method: 'notifications/cancelled', params: { requestId: 2 } });
  assert.equal(await shown.gone(), 'nobody asks any more');
  assert.deepEqual(await reached(setup), []);
  assert.equal(host.messages.filter(({ id }) => id === 1 || id === 2).length, 0);
  const received = (await host.ask('received')) as readonly string[];
  assert.ok(!received.some((line) => line.includes('cancelled')), 'the server has never heard of them');
});

test('nobody answers in time', async (t) => {
  const { home, host, shown } = await askingRun(t, { config: 'consent: { timeout: 1s }\n' });
  host.send(callOf(join(home.home, 'a')));
  assert.match(await refusal(host), /nobody has given it in time/);
  await shown.next();
  host.send(callOf(join(home.home, 'a'), 8));
  await shown.next();
  assert.match(await refusal(host, 8), /in time/, 'asked again by the next call');
});

test('what is denied wins at once over what could be given', async (t) => {
  const setup = await askingRun(t);
  const { home, host } = setup;
  const [given, denied] = [join(home.home, 'a'), join(home.home, 'b')];
  host.send(callOf(given, 7, { arguments: { paths: [given, denied] } }));
  assert.match(await refusal(host), new RegExp(`"${denied}" .* lies outside`));
  assert.deepEqual((await list(home)).pending, []);
});

test('a call needs all that it names, and one no is enough', async (t) => {
  const policy = `${ROOTS}rules: [{ id: q, ask: [a, b], access: read-write }]`;
  const setup = await askingRun(t, { policy });
  const { home, host, shown } = setup;
  const paths = ['a', 'b'].map((name) => join(home.home, name));
  const both = (id: number) => callOf('', id, { arguments: { paths, script: ['{"id":$ID,"result":1}'] } });
  host.send(both(1));
  const [first, second] = [await shown.next(), await shown.next()];
  await home.json('consent', 'approve', first.id);
  await host.ask('echo');
  assert.deepEqual(await reached(setup), []);
  await home.json('consent', 'deny', second.id);
  assert.match(await refusal(host, 1), /a person has refused it/);
});

test('a call that writes is refused where only reading is given', async (t) => {
  const { home, host, shown } = await askingRun(t);
  host.send(callOf(join(home.home, 'a/f')));
  await home.json('consent', 'approve', (await shown.next()).id, '--access', 'read-only');
  assert.match(await refusal(host), /may only be read, and this call may write/);
});

test('what is only typed asks nobody, and a notification neither', async (t) => {
  const { home, host } = await askingRun(t);
  const path = join(home.home, 'a');
  const argument = { name: 'path', value: path };
  const { error } = await host.request('completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument });
  assert.match((error as { readonly message: string }).message, /lies outside/);
  const { id, ...rest } = callOf(path);
  host.send(rest);
  await host.ask('echo');
  assert.deepEqual((await list(home)).pending, []);
});

test('too many questions are not asked, and the call is told', async (t) => {
  const names = Array.from({ length: 66 }, (_, i) => `r${i}`);
  const roots = `roots: { ${names.map((name) => `${name}: { path: ~/b/${name} }`).join(', ')} }`;
  const tree = names.map((name) => `dir home/b/${name}`);
  const { home, host } = await askingRun(t, {
    policy: `${roots}\nrules: [{ id: q, ask: [${names.join(', ')}], access: read-write }]`,
    tree,
  });
  for (const [id, name] of names.entries()) host.send(callOf(join(home.home, 'b', name), id));
  // The last of many: more may be asked meanwhile, one a minute.
  assert.match(await refusal(host, 65), /too much is asked for already/);
});

test('a call is refused when the daemon goes', async (t) => {
  const { home, daemon, host, shown } = await askingRun(t);
  host.send(callOf(join(home.home, 'a')));
  await shown.next();
  await daemon.kill('SIGKILL');
  assert.match(await refusal(host), /the daemon cannot ask for it/);
});

test('the end of the input refuses what waits, and then the server ends as ever', async (t) => {
  const { home, host, shown } = await askingRun(t);
  host.send(callOf(join(home.home, 'a')));
  await shown.next();
  host.process.stdin?.end();
  assert.match(await refusal(host), /nobody has given it in time/);
  assert.deepEqual(await host.ended, { status: 0, signal: null });
  assert.equal(await shown.gone(), 'nobody asks any more');
});
