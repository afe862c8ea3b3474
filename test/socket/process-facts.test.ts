import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readExe, readParent, readProcess } from '../../src/socket/process-facts.ts';
import { temporaryDirectory } from '../support/tree.ts';

const skip = process.platform === 'linux' ? false : 'needs /proc';

/** Starts a program that waits; resolves when it runs as what it is (after exec). */
async function start(
  t: TestContext,
  program: string,
  argv: readonly string[],
  options: object = {},
): Promise<ChildProcess & { pid: number }> {
  const child = spawn(program, argv, { stdio: ['pipe', 'pipe', 'ignore'], ...options });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout ?? child, 'data');
  assert.ok(child.pid);
  return child as ChildProcess & { pid: number };
}

test('readProcess() gives program, command line and start time', { skip }, async (t) => {
  const child = await start(t, process.execPath, ['-e', 'console.log(1); process.stdin.resume()', '', 'ü']);
  const { exe, argv, startTime, pid } = readProcess(child.pid);
  assert.equal(pid, child.pid);
  assert.equal(exe, realpathSync.native(process.execPath));
  assert.deepEqual(argv?.slice(-2), ['', 'ü']);
  assert.match(startTime ?? '', /^\d+$/);
});

test('readExe() does not name a program that has been deleted', { skip }, async (t) => {
  const program = join(temporaryDirectory(t), 'cat');
  copyFileSync('/bin/cat', program);
  const child = await start(t, program, ['/dev/zero'], { stdio: ['ignore', 'pipe', 'ignore'] });
  assert.equal(readExe(child.pid), program);
  rmSync(program);
  assert.equal(readExe(child.pid), undefined);
});

test('readProcess() leaves out a command line that is not UTF-8 or too long', { skip }, async (t) => {
  const long = await start(t, process.execPath, [
    '-e',
    'console.log(1); process.stdin.resume()',
    'x'.repeat(130_000),
    'y'.repeat(2000),
  ]);
  assert.equal(readProcess(long.pid).argv, undefined);
  const script = `exec "$0" -e 'console.log(1); process.stdin.resume()' "$(printf '\\377')"`;
  const bytes = await start(t, 'sh', ['-c', script, process.execPath]);
  assert.equal(readProcess(bytes.pid).argv, undefined);
  assert.ok(readProcess(bytes.pid).exe);
});

test('readParent() names the process that started it', { skip }, async (t) => {
  const child = await start(t, process.execPath, ['-e', 'console.log(1); process.stdin.resume()']);
  const parent = readParent(child.pid);
  assert.equal(parent?.pid, process.pid);
  assert.equal(parent?.exe, realpathSync.native(process.execPath));
});

test('a process that has ended has no facts', { skip }, async (t) => {
  const child = await start(t, process.execPath, ['-e', 'console.log(1)']);
  await once(child, 'close');
  assert.deepEqual(readProcess(child.pid), { pid: child.pid });
  assert.equal(readParent(child.pid), null);
});
