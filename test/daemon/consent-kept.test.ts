// What outlives a daemon of what people have answered.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ASKS, list, listed, onlyQuestion, PATIENT, served } from '../support/asking-home.ts';
import { TestHome } from '../support/serve.ts';

const FAILS = fileURLToPath(new URL('../support/fails-on-disk.mjs', import.meta.url));

test('an always is there after a restart, and the identical request asks nobody however often it is made', async (t) => {
  const { home, daemon } = await served(t);
  await listed(await home.peer('fs'));
  await home.json('consent', 'approve', (await onlyQuestion(home)).id, '--scope', 'always');
  await daemon.kill('SIGKILL');
  await home.serve();
  const peer = await home.peer('fs');
  for (let i = 0; i < 1_000; i += 1) assert.deepEqual(await listed(peer), ['A']);
  const { pending, grants } = await list(home);
  assert.deepEqual([pending, grants.map(({ scope }) => scope)], [[], ['always']]);
});

test('on a disk that takes no writes nothing lasting is given, and who takes back hears that it may come back', async (t) => {
  const home = new TestHome(t, ['dir home/a', 'dir home/b']);
  home.policy(ASKS);
  home.configure(PATIENT);
  const state = join(home.home, '.local/state/rootsd');
  const env = { NODE_OPTIONS: `--import=${FAILS}`, FAIL_WITH: 'EROFS', FAIL_BELOW: state };
  const daemon = await home.serveWith({ env });
  const peer = await home.peer('fs');
  await listed(peer);
  await home.json('consent', 'approve', (await onlyQuestion(home)).id, '--scope', 'always');
  await listed(await home.peer('git'));
  const { id } = await onlyQuestion(home);
  daemon.process.kill('SIGUSR2');
  // The audit fails with it: from then on it is read-only.
  while (daemon.count('audit line lost') === 0) await home.peer('knocks');
  const approved = await home.command('consent', 'approve', id, '--scope', 'always');
  assert.deepEqual([approved.status, /CONSENT_NOT_KEPT/.test(approved.err)], [75, true]);
  assert.equal((await onlyQuestion(home)).id, id, 'still open');
  assert.equal((await home.command('consent', 'approve', id, '--scope', 'session')).status, 0);
  const revoked = await home.command('consent', 'revoke', '--server', 'fs');
  assert.deepEqual([revoked.status, /^Revoked:/.test(revoked.out)], [75, true]);
  assert.match(revoked.err, /CONSENT_REVOKED_NOT_KEPT/);
  assert.deepEqual(await listed(peer), []);
  const problems = async () =>
    (await home.json<{ problems: { code: string; file: string }[] }>('status')).problems
      .filter(({ file }) => file.endsWith('consents.json'))
      .map(({ code }) => code);
  assert.deepEqual(await problems(), ['STATE_UNWRITABLE']);
  daemon.process.kill('SIGUSR2');
  // Whatever is written next writes that down too.
  for (let i = 0; (await problems()).length > 0; i += 1) {
    await listed(await home.peer(`other-${i}`));
    await home.command('consent', 'deny', (await onlyQuestion(home)).id);
  }
  await daemon.kill('SIGKILL');
  await home.serve();
  assert.deepEqual(await listed(await home.peer('fs')), []);
});

test('a damaged file of consents gives nothing, is reported and lies aside', async (t) => {
  const { home, daemon } = await served(t);
  await listed(await home.peer('fs'));
  await home.json('consent', 'approve', (await onlyQuestion(home)).id, '--scope', 'always');
  await daemon.kill('SIGTERM');
  const file = join(home.home, '.local/state/rootsd/consents.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('read-write', 'read-onlx'));
  const again = await home.serve();
  await again.logged('consents refused');
  assert.deepEqual(await listed(await home.peer('fs')), []);
  const { state, problems } = await home.json<{ state: string; problems: { code: string }[] }>('status');
  assert.deepEqual([state, problems.map(({ code }) => code)], ['degraded', ['STATE_REFUSED']]);
  readFileSync(`${file}.refused`);
});
