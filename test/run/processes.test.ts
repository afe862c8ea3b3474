import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { descendantsOf, identifyProcess, isAlive, type ProcessIdentity } from '../../src/run/processes.ts';

/** Starts a program that says the number of one of its children on a line of its own. */
async function start(t: TestContext, command: readonly string[]): Promise<{ child: ChildProcess; said: number }> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  return { child, said: Number(line.toString()) };
}

function identify(pid: number | undefined): ProcessIdentity {
  const identity = identifyProcess(pid ?? 0);
  assert.ok(identity, `there is no process ${pid}`);
  return identity;
}

const pidsOf = (processes: readonly ProcessIdentity[]) => processes.map(({ pid }) => pid).sort();
const isLinux = process.platform === 'linux';

describe('descendantsOf()', { skip: !isLinux && 'there is no /proc' }, () => {
  it('finds children and their children, and nobody else', async (t) => {
    // Each shell waits, so that it is not replaced by its last command.
    const { child, said } = await start(t, ['sh', '-c', 'sh -c "sleep 1000 & echo \\$!; wait" & wait']);
    const [shell, other] = [identify(child.pid), spawn('sleep', ['1000'])];
    t.after(() => other.kill('SIGKILL'));
    const found = descendantsOf([shell]);
    assert.equal(found.length, 3);
    assert.deepEqual([found[0]?.pid, found[2]?.pid], [child.pid, said]);
    for (const { pid } of found.slice(1)) t.after(() => process.kill(pid, 'SIGKILL'));
  });

  it('finds children of each thread', async (t) => {
    const script = `
import subprocess, threading
def run():
    child = subprocess.Popen(["sleep", "1000"])
    print(child.pid, flush=True)
    child.wait()
threading.Thread(target=run).start()`;
    const { child, said } = await start(t, ['python3', '-c', script]);
    t.after(() => process.kill(said, 'SIGKILL'));
    assert.deepEqual(pidsOf(descendantsOf([identify(child.pid)])), pidsOf([identify(child.pid), identify(said)]));
  });

  it('finds nothing below a process that has ended', async (t) => {
    const { child, said } = await start(t, ['sh', '-c', 'sleep 1000 & echo $!']);
    const orphan = identify(said);
    t.after(() => process.kill(said, 'SIGKILL'));
    await once(child, 'exit');
    assert.deepEqual(descendantsOf([{ pid: child.pid ?? 0, startTime: '1' }]), []);
    assert.ok(isAlive(orphan));
  });
});
