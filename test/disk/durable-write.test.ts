import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeLeftovers, type WriteStep, writeDurably } from '../../src/disk/durable-write.ts';
import { makeTree } from '../support/tree.ts';

const STEPS: readonly WriteStep[] = ['create', 'write', 'sync', 'rename', 'sync-directory'];

test('writeDurably() goes through its steps in order', async (t) => {
  const base = makeTree(t, []);
  const steps: WriteStep[] = [];
  await writeDurably(join(base, 'f'), 'text', { onStep: (step) => steps.push(step) });
  assert.deepEqual(steps, STEPS);
});

test('writeDurably() has the bytes on the disk before the name, and the name before it returns', async (t) => {
  const base = makeTree(t, ['file preloaded/steps']);
  const stepsFile = join(base, 'preloaded/steps');
  const child = new URL('../support/killed-write.ts', import.meta.url);
  const preload = new URL('../support/dies-at-step.mjs', import.meta.url).href;
  const writing = fork(child, [join(base, 'f'), 'text', 'none'], {
    execArgv: ['--import', 'tsx', '--import', preload],
    env: { ...process.env, DIE_AT: '0', DIE_BELOW: base, STEPS_FILE: stepsFile },
  });
  assert.deepEqual(await once(writing, 'exit'), [0, null]);
  const [temporary = ''] = /\S+\.tmp/.exec(readFileSync(stepsFile, 'utf8')) ?? [];
  assert.deepEqual(readFileSync(stepsFile, 'utf8').trim().split('\n'), [
    `create ${temporary}`,
    `chmod ${temporary}`,
    `write ${temporary}`,
    `sync ${temporary}`,
    `rename ${temporary} ${join(base, 'f')}`,
    `sync ${base}`,
  ]);
});

test('writeDurably() makes the file with its mode, whatever the umask and the mode before', async (t) => {
  const base = makeTree(t, ['file old x']);
  chmodSync(join(base, 'old'), 0o666);
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  await writeDurably(join(base, 'old'), 'new');
  await writeDurably(join(base, 'public'), new Uint8Array([104, 105]), { mode: 0o644 });

  assert.equal(statSync(join(base, 'old')).mode & 0o777, 0o600);
  assert.equal(statSync(join(base, 'public')).mode & 0o777, 0o644);
  assert.equal(readFileSync(join(base, 'public'), 'utf8'), 'hi');
  assert.deepEqual(readdirSync(base).sort(), ['old', 'public']);
});

test('writeDurably() replaces a link and leaves its target alone', async (t) => {
  const base = makeTree(t, ['file target old', 'link f -> target']);
  await writeDurably(join(base, 'f'), 'new');
  assert.ok(lstatSync(join(base, 'f')).isFile());
  assert.equal(readFileSync(join(base, 'target'), 'utf8'), 'old');
});

test('writeDurably() that fails at any step leaves the whole old or the whole new file and nothing else', async (t) => {
  for (const failing of STEPS) {
    const base = makeTree(t, ['file f old']);
    const onStep = (step: WriteStep) => {
      if (step === failing) throw new Error(failing);
    };
    await assert.rejects(writeDurably(join(base, 'f'), 'new', { onStep }), { message: failing });
    assert.equal(readFileSync(join(base, 'f'), 'utf8'), failing === 'sync-directory' ? 'new' : 'old', failing);
    assert.deepEqual(readdirSync(base), ['f'], failing);
  }
});

test('writeDurably() that is killed at any step leaves a whole file; removeLeftovers() takes the rest away', async (t) => {
  const child = new URL('../support/killed-write.ts', import.meta.url);
  for (const step of STEPS) {
    const others = ['.f.0123456789abcdef.tmp.bak', '.g.0123456789abcdef.tmp', '.f.tmp'];
    const base = makeTree(t, ['file f old', ...others.map((name) => `file ${name} mine`)]);
    const killed = fork(child, [join(base, 'f'), 'new', step], { execArgv: ['--import', 'tsx'] });
    assert.deepEqual(await once(killed, 'exit'), [null, 'SIGKILL']);
    assert.equal(readFileSync(join(base, 'f'), 'utf8'), step === 'sync-directory' ? 'new' : 'old', step);
    const before = readdirSync(base).length;
    removeLeftovers(join(base, 'f'));
    assert.deepEqual(readdirSync(base).sort(), [...others, 'f'].sort(), step);
    assert.equal(before - readdirSync(base).length, step === 'create' || step === 'sync-directory' ? 0 : 1, step);
  }
});

test('writeDurably() rejects with the system’s error where the directory is not there', async (t) => {
  const base = makeTree(t, []);
  await assert.rejects(writeDurably(join(base, 'none', 'f'), 'x'), { code: 'ENOENT' });
});
