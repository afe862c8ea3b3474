import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { RootsError } from '../../src/core/errors.ts';
import { openNative } from '../../src/disk/native.ts';
import { acquireLock, type Lock, lockBy, type TryLock } from '../../src/socket/lock.ts';
import { temporaryDirectory } from '../support/tree.ts';

const native = await openNative();
const noFlock: TryLock = () => null;
/** Each way to lock, and how another process gets it. */
const WAYS: readonly (readonly [name: string, way: TryLock, expression: string, skip: string | false])[] = [
  ['flock', lockBy(native), 'lockBy(await openNative())', native === null ? 'koffi is not installed' : false],
  ['the program flock', lockBy(null), 'lockBy(null)', lockBy(null)(-1) === null && 'flock(1) is not installed'],
  ['lock socket', noFlock, '() => null', false],
];

async function acquire(t: TestContext, directory: string, way: TryLock): Promise<Lock> {
  const lock = await acquireLock(directory, way);
  t.after(() => lock.close());
  return lock;
}

interface Contender {
  readonly child: ChildProcess;
  /** `won`, or the message of the error. */
  readonly outcome: Promise<string>;
}

/** A process that takes the lock and keeps it until it is killed, or says why it cannot. */
function contend(t: TestContext, directory: string, expression: string): Contender {
  const load = (file: string) => JSON.stringify(new URL(`../../src/${file}`, import.meta.url).href);
  const script = `import { acquireLock, lockBy } from ${load('socket/lock.ts')};
    import { openNative } from ${load('disk/native.ts')};
    try {
      await acquireLock(${JSON.stringify(directory)}, ${expression});
      console.log('won');
      setInterval(() => {}, 1e6);
    } catch (error) { console.log(error.code + ' ' + error.message); }`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout });
  return { child, outcome: once(lines, 'line').then(([line]) => String(line)) };
}

for (const [name, way, expression, skip] of WAYS) {
  test(`acquireLock() by ${name} is held by one, and says by whom`, { skip }, async (t) => {
    const directory = join(temporaryDirectory(t), 'run');
    const lock = await acquire(t, directory, way);
    assert.equal(lock.directory, directory);
    await assert.rejects(acquireLock(directory, way), (error: RootsError) => {
      assert.ok(error instanceof RootsError);
      assert.deepEqual([error.code, error.kind], ['DAEMON_RUNNING', 'temporary']);
      assert.match(error.message, new RegExp(`pid ${process.pid} .*"${directory}"`));
      assert.equal(error.hint, `Use that one, or end it first: kill ${process.pid}`);
      return true;
    });
    assert.deepEqual(
      [statSync(join(directory, 'lock')).mode & 0o777, statSync(directory).mode & 0o777],
      [0o600, 0o700],
    );
    lock.close();
    (await acquire(t, directory, way)).close();
    assert.deepEqual(readdirSync(directory), ['lock']);
  });

  test(`acquireLock() by ${name} is one lock under every name of the directory`, { skip }, async (t) => {
    const base = temporaryDirectory(t);
    mkdirSync(join(base, 'real'));
    symlinkSync('real', join(base, 'alias'));
    const lock = await acquire(t, join(base, 'real/run'), way);
    assert.equal(lock.directory, join(base, 'real/run'));
    await assert.rejects(acquireLock(join(base, 'alias/run'), way), { code: 'DAEMON_RUNNING' });
  });

  test(`acquireLock() by ${name}: of twenty that start at once one wins, the others say who`, { skip }, async (t) => {
    const directory = temporaryDirectory(t);
    const contenders = Array.from({ length: 20 }, () => contend(t, directory, expression));
    const outcomes = await Promise.all(contenders.map(({ outcome }) => outcome));
    const winner = contenders[outcomes.indexOf('won')];
    assert.equal(outcomes.filter((outcome) => outcome === 'won').length, 1);
    for (const outcome of outcomes) {
      if (outcome !== 'won') assert.match(outcome, new RegExp(`^DAEMON_RUNNING .* pid ${winner?.child.pid} `));
    }
  });

  test(`acquireLock() by ${name} is free again when its holder was killed`, { skip }, async (t) => {
    const directory = temporaryDirectory(t);
    const { child, outcome } = contend(t, directory, expression);
    assert.equal(await outcome, 'won');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = await acquire(t, directory, way);
    assert.equal(readFileSync(join(directory, 'lock'), 'utf8'), `${process.pid}\n`);
    lock.close();
  });
}

test('acquireLock() by flock and by the program flock are one lock', {
  skip: WAYS[0]?.[3] || WAYS[1]?.[3],
}, async (t) => {
  const directory = temporaryDirectory(t);
  const lock = await acquire(t, directory, lockBy(native));
  await assert.rejects(acquireLock(directory, lockBy(null)), { code: 'DAEMON_RUNNING' });
  lock.close();
  await acquire(t, directory, lockBy(null));
  await assert.rejects(acquireLock(directory, lockBy(native)), { code: 'DAEMON_RUNNING' });
});

test('acquireLock() removes the sockets that a killed start has left under names of the moment, and nothing else', async (t) => {
  const directory = temporaryDirectory(t);
  const [dead, alive, own] = ['.s0123456789', '.salive00000', '.sockets0000'];
  const script = `require("net").createServer().listen(${JSON.stringify(join(directory, dead))}, () => console.log("up"))`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const server = createServer().listen(join(directory, alive));
  t.after(() => server.close());
  await once(server, 'listening');
  writeFileSync(join(directory, own), 'mine');
  await acquire(t, directory, lockBy(native));
  assert.deepEqual(readdirSync(directory).sort(), ['lock', alive, own].sort());
});

test('acquireLock() does not follow a link in place of its file', async (t) => {
  const base = temporaryDirectory(t);
  mkdirSync(join(base, 'run'));
  symlinkSync(join(base, 'precious'), join(base, 'run/lock'));
  await assert.rejects(acquireLock(join(base, 'run'), lockBy(native)), { code: 'DIRECTORY_UNSAFE' });
  assert.equal(existsSync(join(base, 'precious')), false);
});

test('acquireLock() refuses a directory that others can write', async (t) => {
  const directory = temporaryDirectory(t);
  chmodSync(directory, 0o777);
  await assert.rejects(acquireLock(directory, lockBy(native)), { code: 'DIRECTORY_UNSAFE' });
  assert.deepEqual(readdirSync(directory), []);
});

test('acquireLock() by lock socket leaves what is no socket alone', async (t) => {
  const directory = temporaryDirectory(t);
  writeFileSync(join(directory, 'lock.sock'), 'precious');
  await assert.rejects(acquireLock(directory, noFlock), { code: 'SOCKET_UNSAFE' });
  assert.equal(readFileSync(join(directory, 'lock.sock'), 'utf8'), 'precious');
});
