// Policies of 1 MB and of a thousand files: taken up beside everything else.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { requestControl } from '../../src/client/control.ts';
import { STABLE_MS } from '../../src/core/settling.ts';
import type { ReloadReply } from '../../src/daemon/control.ts';
import { attachMany } from '../support/attached.ts';
import { largePolicy } from '../support/large-policy.ts';
import { TestHome } from '../support/serve.ts';

const LARGE = largePolicy(4_100).replace('version: 1\n', '');
assert.ok(LARGE.length > 870_000);

function reload(home: TestHome): Promise<ReloadReply> {
  const search = { explicit: home.socket, uid: process.getuid?.() ?? 0, stateDirectory: null };
  return requestControl('rootsd/reload', { wait: false }, { search, deadlineMs: 90_000 }) as Promise<ReloadReply>;
}

/** A file is read at once when it has been as it is for so long. */
async function untilStable(path: string): Promise<void> {
  while (Date.now() - statSync(path).ctimeMs <= STABLE_MS) await delay(10);
}

describe('the daemon, with a policy of 1 MB', () => {
  /** How often a peer is answered until the daemon has read this policy again. */
  async function answersUntilReloaded(home: TestHome, policy: string): Promise<ReloadReply & { answers: number }> {
    home.policy('rules: []\n');
    const daemon = await home.serve();
    const peer = await home.peer('nobody');
    // It finds the file when all has settled, and nothing in its reload is a wait for that.
    daemon.process.kill('SIGSTOP');
    await untilStable(home.policy(policy));
    let isOver = false;
    const reloaded = reload(home).finally(() => {
      isOver = true;
    });
    daemon.process.kill('SIGCONT');
    let answers = 0;
    for (; !isOver; answers++) assert.deepEqual((await peer.request('roots/list')).result, { roots: [] });
    return { ...(await reloaded), answers };
  }

  it('answers its peers while it reads it', async (t) => {
    // Refused by its own test: nothing comes after reading it. Opening and reading the file alone gives them some twenty turns.
    const wrong = `${LARGE}  - { claims: x, root: project-0, expect: allow, access: read-write }\n`;
    const { problems, answers } = await answersUntilReloaded(new TestHome(t), wrong);
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['POLICY_TEST_FAILED'],
    );
    assert.ok(answers > 100, `${answers} answers`);
  });

  it('takes it up whole', async (t) => {
    const home = new TestHome(t);
    const { changed, problems } = await answersUntilReloaded(home, LARGE);
    assert.deepEqual([changed, problems], [true, []]);
    assert.equal((await home.json<{ roots: number }>('status')).roots, 1_000);
  });

  it('answers its peers while it tells those who watch, one after the other', async (t) => {
    const home = new TestHome(
      t,
      Array.from({ length: 50 }, (_, i) => `dir home/code/team-${i % 20}/project-${i}`),
    );
    home.policy('rules: []\n');
    await home.serve();
    const asking = await home.peer('nobody');
    const watching = await attachMany(t, home.socket, 50);
    home.policy(LARGE.replaceAll('server-', 's'));
    // In the order in which it comes: answers, and between them those who have been told.
    const told = () => watching.filter(({ told: [, ...lists] }) => lists.some(({ length }) => length > 0)).length;
    let answers = 0;
    while (told() < watching.length) {
      await asking.request('roots/list');
      if (told() > 0) answers += 1;
    }
    assert.ok(answers > 10, `${answers} answers between the first who was told and the last`);
  });

  it('ends in the middle of that at once, and has taken up nothing', async (t) => {
    const home = new TestHome(t);
    home.policy('rules: []\n');
    const daemon = await home.serve();
    const threads = () => readdirSync(`/proc/${daemon.pid}/task`).length;
    const before = threads();
    home.policy(LARGE);
    while (threads() <= before) await delay(1);
    const { status, err } = await daemon.kill('SIGTERM');
    assert.equal(status, 0, err);
    assert.equal(daemon.count('daemon stopped'), 1);
    assert.deepEqual([daemon.count('layer activated'), daemon.count('layer rejected'), daemon.count('bug')], [1, 0, 0]);
  });

  it('keeps what was in force where it is broken in its last line, and says where', async (t) => {
    const home = new TestHome(t, ['dir home/a']);
    home.policy('roots: { a: { path: ~/a } }\nrules: [{ id: r, allow: [a] }]\n');
    await home.serve();
    const path = home.policy(`${LARGE}ceiling: [~/x, *]\n`);
    const { problems } = await reload(home);
    const line = LARGE.split('\n').length + 1;
    assert.deepEqual(
      problems.map(({ code, file, line, column }) => [code, file, line, column]),
      [['YAML_STAR', path, line, 16]],
    );
    const peer = await home.peer('s');
    assert.equal((await peer.request('roots/list')).result.roots.length, 1);
  });
});

describe('the daemon, with a thousand policy files', () => {
  const text = (i: number) =>
    `version: 1\nroots: { r${i}: { path: ~/r${i} } }\nrules: [{ id: rule-${i}, allow: [r${i}] }]\n`;

  it('takes them up as one layer, and refuses them as one where a file is empty or nests without end', async (t) => {
    const home = new TestHome(t, ['dir home/r7']);
    const at = (i: number) => join(home.directory('user'), `f${String(i).padStart(4, '0')}.yaml`);
    for (let i = 0; i < 1_000; i++) home.put(at(i), text(i));
    await home.serve();
    const status = await home.json<{ roots: number; layers: { files: string[] }[] }>('status');
    assert.deepEqual([status.roots, status.layers[1]?.files.length], [1_000, 1_000]);
    const peer = await home.peer('s');
    assert.equal((await peer.request('roots/list')).result.roots.length, 1);

    home.put(at(3), '');
    home.put(at(5), `version: 1\nroots: ${'['.repeat(5_000)}`);
    home.put(at(9), `version: 1\nroots: { r9: { path: ~/r9 } }\nrules: ${'[]'.repeat(3)}`);
    home.put(at(7), text(7).replace('[r7]', '[r9]'));
    const { problems } = await reload(home);
    const found = problems.map(({ code, file }) => [code, file]);
    assert.deepEqual(
      found.filter(([code]) => code === 'YAML_EMPTY' || code === 'YAML_DEPTH'),
      [
        ['YAML_EMPTY', at(3)],
        ['YAML_DEPTH', at(5)],
      ],
    );
    assert.ok(found.some(([, file]) => file === at(9)));
    assert.equal((await peer.request('roots/list')).result.roots.length, 1);
  });
});

describe('Layers', () => {
  it('give back the memory of what is no longer in force', async () => {
    const script = fileURLToPath(new URL('../support/reload-many.ts', import.meta.url));
    const args = ['--expose-gc', '--import', 'tsx', script];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { beforeMiB, afterMiB, alive, threads } = JSON.parse(stdout);
    assert.ok(afterMiB - beforeMiB < 1, stdout);
    assert.deepEqual([alive, threads], [1, 0], stdout);
  });
});
