import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { whyNotFrom } from '../../src/core/separation.ts';
import { readRuns, readTraits } from '../../src/socket/process-tree.ts';

const skip = process.platform === 'linux' ? false : 'needs /proc';

/** Starts a shell script that writes pids, a line each; resolves with its own and those. */
async function start(t: TestContext, script: string, count: number): Promise<readonly number[]> {
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  const pids: number[] = [];
  t.after(() => {
    for (const pid of [...pids, child.pid ?? 0]) if (pid > 0) kill(pid);
  });
  let said = '';
  while (said.split('\n').length <= count) said += (await once(child.stdout, 'data'))[0];
  pids.push(...said.trim().split('\n').map(Number));
  return [child.pid ?? 0, ...pids];
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function judge(caller: number, run: number): string | null {
  return whyNotFrom(readTraits(caller) ?? assert.fail(), readRuns([run]));
}

test('a descendant of what a run has started is known by its ancestors, this process is none', { skip }, async (t) => {
  const [run = 0, child = 0] = await start(t, 'sleep 60 & echo $!; wait', 1);
  assert.ok(readTraits(child)?.ancestors.includes(process.pid));
  assert.match(judge(child, run) ?? '', /has started this process/);
  assert.equal(judge(process.pid, run), null);
});

test('each run is looked at once, however many sessions it has; one within another is in both', { skip }, async (t) => {
  const [outer = 0, inner = 0, child = 0] = await start(t, "/bin/sh -c 'echo $$; sleep 60 & echo $!; wait' & wait", 2);
  const runs = readRuns([outer, inner, outer]);
  assert.deepEqual(
    runs.map(({ pid, parent, descendants }) => [pid, parent.pid, descendants.map((one) => one.pid).sort()]),
    [
      [outer, process.pid, [inner, child].sort()],
      [inner, outer, [child]],
    ],
  );
  assert.deepEqual(runs[1]?.descendants, [readTraits(child)]);
});

test('one that left its parents is known by the session it kept', { skip }, async (t) => {
  // The inner shell ends, so that the first `sleep` is no descendant of the run any more.
  const script = `setsid /bin/sh -c '(sleep 60 & echo $!); echo $$; exec sleep 60' & wait`;
  const [run = 0, orphan = 0, leader = 0] = await start(t, script, 2);
  while (readTraits(orphan)?.ancestors.includes(run)) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(readTraits(orphan)?.session, leader);
  assert.match(judge(orphan, run) ?? '', /in the session of an MCP server/);
});

test('a process that cannot get new privileges is known by that', { skip }, async (t) => {
  if (readTraits(process.pid)?.noNewPrivileges) return t.skip('nothing here can get new privileges');
  const [run = 0] = await start(t, 'echo 0; sleep 60', 1);
  const marked = spawn('setpriv', ['--no-new-privs', '/bin/sh', '-c', 'echo; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => marked.kill('SIGKILL'));
  await once(marked.stdout, 'data');
  assert.match(judge(marked.pid ?? 0, run) ?? '', /new privileges/);
});

test('a run that has ended has started nothing', { skip }, async () => {
  const child = spawn('true');
  await once(child, 'close');
  assert.deepEqual(readRuns([child.pid ?? 0]), []);
  assert.equal(readTraits(child.pid ?? 0), null);
});
