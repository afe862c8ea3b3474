import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { identifyProcess } from '../../src/run/processes.ts';
import { alone } from '../../src/run/settings-lock.ts';
import { temporaryDirectory } from '../support/tree.ts';

const TAKER = fileURLToPath(new URL('../support/take-lock.ts', import.meta.url));
/** How many of these at once, and how many end while they have it. */
const [TAKERS, KILLED] = [4, 16];

function lockIn(t: TestContext): { readonly base: string; readonly lock: string } {
  const base = temporaryDirectory(t);
  return { base, lock: `${base}/lock` };
}

/** Long enough that who waits has looked several times. */
const polls = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

const gone = (token: string): string => JSON.stringify({ pid: 2 ** 30, startTime: '1', token });

describe('alone()', () => {
  it('lets one after the other, in one process too, and leaves nothing behind', async (t) => {
    const { base, lock } = lockIn(t);
    let inside = 0;
    const most = await Promise.all(
      Array.from({ length: 5 }, () =>
        alone(lock, async () => {
          inside += 1;
          await new Promise((resolve) => setTimeout(resolve, 2));
          return inside--;
        }),
      ),
    );
    assert.deepEqual(most, [1, 1, 1, 1, 1]);
    assert.deepEqual(readdirSync(base), []);
  });

  it('gives it back where what was done fails', async (t) => {
    const { base, lock } = lockIn(t);
    await assert.rejects(
      alone(lock, () => Promise.reject(new Error('no'))),
      /^Error: no$/,
    );
    assert.deepEqual(readdirSync(base), []);
  });

  for (const [what, leave] of [
    ['of a process that is gone', (lock) => symlinkSync(gone('00112233445566aa'), lock)],
    ['that says nothing', (lock) => symlinkSync('{', lock)],
    ['that is no link', (lock) => writeFileSync(lock, '')],
    [
      'whose taker was killed before it took it away',
      (lock) => {
        symlinkSync(gone('00112233445566aa'), lock);
        symlinkSync(gone('00112233445566ab'), `${lock}.00112233445566aa`);
        symlinkSync(gone('00112233445566ac'), `${lock}.00112233445566aa.00112233445566ab`);
      },
    ],
  ] as readonly (readonly [string, (lock: string) => void])[]) {
    it(`takes over a lock ${what}`, async (t) => {
      const { base, lock } = lockIn(t);
      leave(lock);
      assert.equal(await alone(lock, async () => lstatSync(lock).isSymbolicLink()), true);
      assert.deepEqual(readdirSync(base), []);
    });
  }

  it('leaves a lock of a process that is gone to who is about to take it away, and finds the next one', async (t) => {
    const { lock } = lockIn(t);
    const token = '00112233445566aa';
    const parent = identifyProcess(process.ppid);
    const living = (own: string): string => JSON.stringify({ ...parent, token: own });
    symlinkSync(gone(token), lock);
    symlinkSync(living('00112233445566ab'), `${lock}.${token}`);
    let isIn = false;
    const done = alone(lock, async () => {
      isIn = true;
    });
    await polls();
    assert.equal(readlinkSync(lock), gone(token));
    // It has seen this one, and takes another one's away as little.
    symlinkSync(living('00112233445566ac'), `${lock}-next`);
    renameSync(`${lock}-next`, lock);
    unlinkSync(`${lock}.${token}`);
    await polls();
    assert.deepEqual([readlinkSync(lock), isIn], [living('00112233445566ac'), false]);
    unlinkSync(lock);
    await done;
  });

  it('gives up on who has it for too long, and says which', async (t) => {
    const { lock } = lockIn(t);
    symlinkSync(JSON.stringify({ ...identifyProcess(process.ppid), token: '00112233445566aa' }), lock);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const failed = assert.rejects(
      alone(lock, () => assert.fail()),
      /^Error: another session has had ".*\/lock" for too long$/,
    );
    for (let i = 0; i < 300; i++) {
      t.mock.timers.tick(20);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await failed;
  });

  it('fails where something else lies there', async (t) => {
    const { lock } = lockIn(t);
    mkdirSync(lock);
    await assert.rejects(
      alone(lock, async () => undefined),
      /EISDIR|EPERM/,
    );
  });

  it('lets one at a time also where they are killed while they have it', async (t) => {
    const { base, lock } = lockIn(t);
    const program = `${base}/take-lock.mjs`;
    buildSync({ entryPoints: [TAKER], outfile: program, bundle: true, platform: 'node', format: 'esm' });
    const living = new Set<ChildProcess>();
    t.after(() => {
      for (const child of living) child.kill('SIGKILL');
    });
    let [said, killed] = ['', 0];
    await new Promise<void>((resolve) => {
      const start = (): void => {
        const child = spawn(process.execPath, [program, lock, '6'], { stdio: ['ignore', 'pipe', 'inherit'] });
        living.add(child);
        child.stdout.on('data', (text) => {
          said += text;
        });
        child.on('close', (_status, signal) => {
          living.delete(child);
          if (signal === 'SIGKILL') killed += 1;
          if (killed < KILLED) start();
          else if (living.size === 0) resolve();
        });
      };
      for (let i = 0; i < TAKERS; i++) start();
    });
    assert.equal(said, '');
  });
});
