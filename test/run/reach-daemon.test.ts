import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { findAccount, ownUid } from '../../src/disk/account.ts';
import { parseRunArguments } from '../../src/run/arguments.ts';
import { type ReachOptions, reachDaemon } from '../../src/run/reach-daemon.ts';
import { FakeDaemon, viewOf } from '../support/fake-daemon.ts';
import { temporaryDirectory } from '../support/tree.ts';

/** More attempts than any that openReviver() lets pass before it starts a daemon. */
const ATTEMPTS = 14;

type Way = 'the option' | 'the variable' | 'nothing';

class Subject {
  readonly socket: string;
  readonly #mark: string;
  readonly #options: ReachOptions;

  constructor(t: TestContext, way: Way) {
    const base = temporaryDirectory(t);
    this.socket = join(base, 'rootsd/rootsd.sock');
    this.#mark = join(base, 'started');
    mkdirSync(dirname(this.socket), { mode: 0o700 });
    const program = join(base, 'rootsd.mjs');
    writeFileSync(
      program,
      `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(this.#mark)}, '');\n`,
    );
    const env = way === 'the variable' ? { ROOTSD_SOCKET: this.socket } : { XDG_RUNTIME_DIR: base };
    const run = parseRunArguments([...(way === 'the option' ? ['--socket', this.socket] : []), '--', 'cat'], env);
    assert.ok(run !== null);
    const account = () => findAccount(ownUid(), base);
    this.#options = { run, account, env, cwd: base, binRootsd: program, heard: { onView: () => {} } };
  }

  reach(): ReturnType<typeof reachDaemon> {
    return reachDaemon(this.#options);
  }

  get hasStartedOne(): boolean {
    return existsSync(this.#mark);
  }

  async untilStarted(): Promise<void> {
    while (!this.hasStartedOne) await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Somebody at that socket who hangs up. Resolves when so many have come. */
function untilTried(t: TestContext, socket: string, times: number): Promise<void> {
  return new Promise((resolve) => {
    let tried = 0;
    const server = createServer((connection) => {
      connection.destroy();
      tried += 1;
      if (tried === times) resolve();
    });
    server.listen(socket);
    t.after(() => server.close());
  });
}

describe('reachDaemon(), where the socket is named by', { concurrency: true }, () => {
  for (const way of ['the option', 'the variable'] as const) {
    it(`${way}, starts no daemon where none answers`, async (t) => {
      const subject = new Subject(t, way);
      await assert.rejects(subject.reach(), { code: 'DAEMON_UNREACHABLE' });
      assert.equal(subject.hasStartedOne, false);
    });

    it(`${way}, revives none that goes away and stays away`, async (t) => {
      const subject = new Subject(t, way);
      const daemon = await FakeDaemon.start(t, dirname(subject.socket), viewOf({}));
      const attachment = await subject.reach();
      t.after(() => attachment.close());
      daemon.stop();
      await untilTried(t, subject.socket, ATTEMPTS);
      assert.equal(subject.hasStartedOne, false);
    });
  }

  it('nothing, revives one that goes away and stays away', async (t) => {
    const subject = new Subject(t, 'nothing');
    const daemon = await FakeDaemon.start(t, dirname(subject.socket), viewOf({}));
    const attachment = await subject.reach();
    t.after(() => attachment.close());
    daemon.stop();
    await Promise.all([untilTried(t, subject.socket, 2), subject.untilStarted()]);
  });
});
