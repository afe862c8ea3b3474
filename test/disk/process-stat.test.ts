import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readProcessStat } from '../../src/disk/process-stat.ts';
import { temporaryDirectory } from '../support/tree.ts';

const skip = process.platform === 'linux' ? false : 'needs /proc';

test('readProcessStat() is not misled by the name of the program, and is null once it has ended', {
  skip,
}, async (t) => {
  const program = join(temporaryDirectory(t), 'x) R 1 (');
  copyFileSync('/bin/cat', program);
  const child = spawn(program, ['/dev/zero'], { stdio: ['ignore', 'pipe', 'ignore'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  assert.ok(child.pid);
  const stat = readProcessStat(child.pid);
  assert.equal(stat?.parentPid, process.pid);
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'latin1').replace(/^.*\)/, 'x').split(' ');
  assert.equal(stat?.startTime, fields[20]);
  child.kill('SIGKILL');
  child.stdout.destroy();
  await once(child, 'close');
  assert.equal(readProcessStat(child.pid), null);
});
