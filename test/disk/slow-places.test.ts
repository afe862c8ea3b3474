import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Mount } from '../../src/disk/mount.ts';
import { SlowPlaces } from '../../src/disk/slow-places.ts';
import type { MembersAnswer, RootAnswer, SlowQuestion } from '../../src/disk/slow-question.ts';
import { childrenOf } from '../support/children.ts';
import { FakeClock } from '../support/clock.ts';
import { makeTree } from '../support/tree.ts';

const NFS = mount('7');
const SMB = mount('8');

function mount(id: string): Mount {
  return { id, parent: '1', point: `/${id}`, type: 'nfs4', isReadOnly: false };
}

function rootAt(path: string): SlowQuestion {
  return { about: 'root', path, kind: 'directory' };
}

/** A helper that answers nothing of `/hangs`, and says in a file how often it was asked for that. */
function answersSome(asked: string): string {
  return `import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  if (line.includes('/hangs')) appendFileSync(${JSON.stringify(asked)}, 'x');
  else console.log('{}');
}`;
}

function openSlowPlaces(t: TestContext, script?: string) {
  const clock = new FakeClock();
  const told: string[] = [];
  const slow = new SlowPlaces<string>({
    clock,
    onAnswer: (subject) => told.push(subject),
    ...(script === undefined ? {} : { script }),
  });
  const alive = setInterval(() => {}, 60_000);
  t.after(async () => {
    clearInterval(alive);
    slow.close();
    // A helper takes a moment to end; the next test counts its own.
    await until(() => helpers().length === 0);
  });
  return { slow, clock, told };
}

/** The helpers of this process, among its other children. */
function helpers(): readonly number[] {
  return childrenOf(process.pid).filter((pid) => /slow-places-helper|\.mjs/.test(commandLineOf(pid)));
}

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(1).join(' ');
  } catch {
    return '';
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setTimeout(2);
}

describe('SlowPlaces', () => {
  it('asks and answers for names that other readers of lines would cut', async (t) => {
    const base = makeTree(t, ['dir a\u2028b', 'dir a\u2028b/c\u2029\u0085d']);
    const { slow } = openSlowPlaces(t);
    const ask = () => slow.ask<MembersAnswer>('a', NFS, { about: 'members', path: `${base}/a\u2028b` });
    ask();
    await slow.settled();
    const asked = ask();
    assert.deepEqual(asked.state === 'answered' && asked.answer.names, ['c\u2029\u0085d']);
  });

  it('answers what the helper has seen, and tells when that is something else', async (t) => {
    const base = makeTree(t, ['dir a']);
    const { slow, told } = openSlowPlaces(t);
    const ask = () => slow.ask<RootAnswer>('a', NFS, rootAt(`${base}/a`));
    assert.deepEqual(ask(), { state: 'open' });
    await slow.settled();
    for (let i = 0; i < 3; i++) {
      const asked = ask();
      assert.ok(asked.state === 'answered');
      assert.equal(asked.answer.seen.place?.path, `${base}/a`);
      await slow.settled();
    }
    assert.deepEqual(told, ['a']);
    rmSync(`${base}/a`, { recursive: true });
    ask();
    await slow.settled();
    const asked = ask();
    assert.equal(asked.state === 'answered' && asked.answer.seen.state, 'absent');
    assert.deepEqual(told, ['a', 'a']);
  });

  it('starts no helper before it is asked, and one for all', async (t) => {
    const base = makeTree(t, ['dir a', 'dir b']);
    const { slow } = openSlowPlaces(t);
    assert.deepEqual(helpers(), []);
    for (const name of ['a', 'b', 'c']) slow.ask(name, NFS, rootAt(`${base}/${name}`));
    await slow.settled();
    assert.equal(helpers().length, 1);
    assert.equal(slow.counts().slow, 3);
  });

  it('has a helper that is built beside the chunk that starts it', async (t) => {
    const base = makeTree(t, ['dir a']);
    const chunks = fileURLToPath(new URL('../../dist/chunks/', import.meta.url));
    const starting = readdirSync(chunks).filter((name) =>
      readFileSync(chunks + name, 'utf8').includes('`slow-places-helper'),
    );
    assert.equal(starting.length, 1);
    const { slow } = openSlowPlaces(t, `${chunks}slow-places-helper.js`);
    slow.ask('a', NFS, rootAt(`${base}/a`));
    await slow.settled();
    assert.equal(slow.ask('a', NFS, rootAt(`${base}/a`)).state, 'answered');
  });

  it('takes a helper that is stopped for a mount that does not answer, kills it and starts another', async (t) => {
    const base = makeTree(t, ['dir a', 'dir b', 'dir other']);
    const { slow, clock } = openSlowPlaces(t);
    const ask = (name: string, on = NFS) => slow.ask(name, on, rootAt(`${base}/${name}`)).state;
    ask('a');
    await slow.settled();
    const [stopped] = helpers();
    assert.ok(stopped);
    process.kill(stopped, 'SIGSTOP');
    ask('a');
    ask('b');
    ask('other', SMB);
    await clock.advance(1_999);
    assert.deepEqual([ask('a'), ask('b'), ask('other', SMB)], ['answered', 'open', 'open']);
    await clock.advance(1);
    // Both of that mount at once; what lies elsewhere is answered by the next helper.
    await slow.settled();
    assert.deepEqual([ask('a'), ask('b'), ask('other', SMB)], ['late', 'late', 'answered']);
    await until(() => !helpers().includes(stopped));
    await clock.advance(1_000);
    assert.equal(slow.counts().abandoned, 0);
    await clock.advance(1_000);
    ask('a');
    await slow.settled();
    assert.equal(ask('a'), 'answered');
  });

  it('asks about other mounts by another helper while one hangs, and ends that one again', async (t) => {
    const base = makeTree(t, ['dir a', 'dir other']);
    const { slow, clock } = openSlowPlaces(t);
    slow.ask('a', NFS, rootAt(`${base}/a`));
    await slow.settled();
    const [stopped] = helpers();
    assert.ok(stopped);
    process.kill(stopped, 'SIGSTOP');
    slow.ask('a', NFS, rootAt(`${base}/gone`));
    slow.ask('other', SMB, rootAt(`${base}/other`));
    await clock.advance(99);
    assert.equal(helpers().length, 1);
    await clock.advance(1);
    await until(() => slow.known('other').state === 'answered');
    assert.equal(slow.known('a').state, 'open');
    // More about the one that hangs starts nothing.
    slow.ask('more', NFS, rootAt(`${base}/a`));
    await clock.advance(1_000);
    assert.equal(helpers().length, 2);
    process.kill(stopped, 'SIGCONT');
    await slow.settled();
    assert.deepEqual([slow.known('a').state, slow.known('more').state], ['answered', 'answered']);
    await until(() => helpers().length === 1);
  });

  it('has no more than four helpers at once: what comes then waits until the first deadline', async (t) => {
    const base = makeTree(t, []);
    writeFileSync(`${base}/some.mjs`, answersSome(`${base}/asked`));
    const { slow, clock } = openSlowPlaces(t, `${base}/some.mjs`);
    const asked = () => (existsSync(`${base}/asked`) ? readFileSync(`${base}/asked`, 'utf8').length : 0);
    for (let i = 1; i <= 4; i++) slow.ask(`hangs ${i}`, mount(`${i}`), rootAt('/hangs'));
    slow.ask('answers', mount('5'), rootAt('/answers'));
    for (let count = 1; count <= 4; count++) {
      await until(() => asked() === count);
      // That it has started was said before it was asked, and is read by then.
      await setTimeout(2);
      await clock.advance(100);
    }
    assert.deepEqual([helpers().length, slow.known('answers').state], [4, 'open']);
    await clock.advance(1_600);
    assert.deepEqual([slow.known('hangs 1').state, slow.known('hangs 2').state], ['late', 'open']);
    await until(() => slow.known('answers').state === 'answered');
  });

  it('asks about mounts in turn, and of each in order', async (t) => {
    const base = makeTree(t, ['dir a']);
    const { slow, told } = openSlowPlaces(t);
    for (const subject of ['a1', 'a2', 'a3']) slow.ask(subject, NFS, rootAt(`${base}/a`));
    for (const subject of ['b1', 'b2']) slow.ask(subject, SMB, rootAt(`${base}/a`));
    await slow.settled();
    assert.deepEqual(told, ['a1', 'a2', 'b1', 'a3', 'b2']);
  });

  it('counts a helper that does not end when it is killed, and leaves its mount alone until then', async (t) => {
    const base = makeTree(t, ['dir a']);
    const { slow, clock } = openSlowPlaces(t);
    slow.ask('a', NFS, rootAt(`${base}/a`));
    // No time for the helper to end, as the kernel sees to it in a call that cannot be interrupted.
    clock.jump(11_000);
    assert.equal(slow.counts().abandoned, 1);
    clock.jump(60_000);
    assert.equal(slow.ask('a', NFS, rootAt(`${base}/a`)).state, 'late');
    await until(() => slow.counts().abandoned === 0);
    slow.ask('a', NFS, rootAt(`${base}/a`));
    await slow.settled();
    assert.equal(slow.ask('a', NFS, rootAt(`${base}/a`)).state, 'answered');
  });

  it('asks a mount that stays silent more and more rarely', async (t) => {
    const base = makeTree(t, ['file silent.mjs process.stdin.resume()', 'dir a']);
    const { slow, clock } = openSlowPlaces(t, `${base}/silent.mjs`);
    const isHelperThere = () => helpers().length > 0;
    const starts: number[] = [];
    for (let second = 0; second < 155; second += 2) {
      slow.ask('a', NFS, rootAt(`${base}/a`));
      if (isHelperThere()) {
        starts.push(second);
        // It never says that it has started.
        await clock.advance(10_000);
        second += 8;
        await until(() => !isHelperThere());
      } else await clock.advance(2_000);
    }
    // Ten seconds of waiting, and a pause that is twice as long each time, up to 30 s.
    assert.deepEqual(starts, [0, 12, 26, 44, 70, 110, 150]);
  });

  it('goes on with another helper when one dies, or says what is no answer', async (t) => {
    const base = makeTree(t, ['file dies.mjs process.stdin.once("data", () => process.exit(3))', 'dir a']);
    const { slow } = openSlowPlaces(t, `${base}/dies.mjs`);
    slow.ask('a', NFS, rootAt(`${base}/a`));
    await slow.settled();
    assert.equal(slow.ask('a', NFS, rootAt(`${base}/a`)).state, 'late');
    writeFileSync(`${base}/dies.mjs`, 'process.stdin.once("data", () => console.log("nonsense"))');
    slow.ask('b', SMB, rootAt(`${base}/a`));
    await slow.settled();
    assert.equal(slow.ask('b', SMB, rootAt(`${base}/a`)).state, 'late');
  });

  it('forgets what was answered to another question or about another mount', async (t) => {
    const base = makeTree(t, ['dir a', 'dir b']);
    const { slow } = openSlowPlaces(t);
    slow.ask('a', NFS, rootAt(`${base}/a`));
    await slow.settled();
    assert.equal(slow.ask('a', SMB, rootAt(`${base}/a`)).state, 'open');
    await slow.settled();
    assert.equal(slow.ask('a', SMB, rootAt(`${base}/b`)).state, 'open');
    slow.forget('a');
    assert.equal(slow.counts().slow, 0);
    await slow.settled();
  });

  it('forgets many at once, and asks for those that are left', async (t) => {
    const base = makeTree(t, ['dir a']);
    const { slow, told } = openSlowPlaces(t);
    // Would take minutes if each looked through all that wait.
    const many = Array.from({ length: 200_000 }, (_, i) => `many ${i}`);
    for (const subject of [...many, 'left']) slow.ask(subject, NFS, rootAt(`${base}/a`));
    for (const subject of many) slow.forget(subject);
    await slow.settled();
    assert.deepEqual([told, slow.subjects()], [['left'], ['left']]);
  });

  it('ends its helper when it is closed', async (t) => {
    const base = makeTree(t, ['dir a']);
    const { slow } = openSlowPlaces(t);
    slow.ask('a', NFS, rootAt(`${base}/a`));
    await slow.settled();
    const [pid] = helpers();
    assert.ok(pid);
    slow.close();
    await until(() => !helpers().includes(pid));
  });
});
