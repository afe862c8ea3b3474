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
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { RootsError } from '../../src/core/errors.ts';
import { type Native, openNative } from '../../src/disk/native.ts';
import { acquireLock, type Lock } from '../../src/socket/lock.ts';
import { temporaryDirectory } from '../support/tree.ts';

const native = await openNative();
/** Each way to lock, with and without the native layer. */
const WAYS: readonly (readonly [name: string, native: Native | null, skip: string | false])[] = [
  ['flock', native, native === null ? 'koffi is not installed' : false],
  ['lock socket', null, false],
];

async function acquire(t: TestContext, directory: string, way: Native | null): Promise<Lock> {
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
function contend(t: TestContext, directory: string, withNative: boolean): Contender {
  const load = (file: string) => JSON.stringify(new URL(`../../src/${file}`, import.meta.url).href);
  const script = `import { acquireLock } from ${load('socket/lock.ts')};
    import { openNative } from ${load('disk/native.ts')};
    try {
      await acquireLock(${JSON.stringify(directory)}, ${withNative ? 'await openNative()' : 'null'});
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

for (const [name, way, skip] of WAYS) {
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

  test(`acquireLock() by ${name}: of ten that start at once one wins, the others say who`, { skip }, async (t) => {
    const directory = temporaryDirectory(t);
    const contenders = Array.from({ length: 10 }, () => contend(t, directory, way !== null));
    const outcomes = await Promise.all(contenders.map(({ outcome }) => outcome));
    const winner = contenders[outcomes.indexOf('won')];
    assert.equal(outcomes.filter((outcome) => outcome === 'won').length, 1);
    for (const outcome of outcomes) {
      if (outcome !== 'won') assert.match(outcome, new RegExp(`^DAEMON_RUNNING .* pid ${winner?.child.pid} `));
    }
  });

  test(`acquireLock() by ${name} is free again when its holder was killed`, { skip }, async (t) => {
    const directory = temporaryDirectory(t);
    const { child, outcome } = contend(t, directory, way !== null);
    assert.equal(await outcome, 'won');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = await acquire(t, directory, way);
    assert.equal(readFileSync(join(directory, 'lock'), 'utf8'), `${process.pid}\n`);
    lock.close();
  });
}

test('acquireLock() does not follow a link in place of its file', async (t) => {
  const base = temporaryDirectory(t);
  mkdirSync(join(base, 'run'));
  symlinkSync(join(base, 'precious'), join(base, 'run/lock'));
  await assert.rejects(acquireLock(join(base, 'run'), native), { code: 'DIRECTORY_UNSAFE' });
  assert.equal(existsSync(join(base, 'precious')), false);
});

test('acquireLock() refuses a directory that others can write', async (t) => {
  const directory = temporaryDirectory(t);
  chmodSync(directory, 0o777);
  await assert.rejects(acquireLock(directory, native), { code: 'DIRECTORY_UNSAFE' });
  assert.deepEqual(readdirSync(directory), []);
});

test('acquireLock() by lock socket leaves what is no socket alone', async (t) => {
  const directory = temporaryDirectory(t);
  writeFileSync(join(directory, 'lock.sock'), 'precious');
  await assert.rejects(acquireLock(directory, null), { code: 'SOCKET_UNSAFE' });
  assert.equal(readFileSync(join(directory, 'lock.sock'), 'utf8'), 'precious');
});
