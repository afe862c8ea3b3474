// What a daemon holds after many reloads and sessions is what it held after the first of them.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { StatusReply } from '../../src/daemon/control.ts';
import { attachMany, untilTold } from '../support/attached.ts';
import { largePolicy } from '../support/large-policy.ts';
import { type Served, TestHome } from '../support/serve.ts';

const PRELOAD = fileURLToPath(new URL('../support/says-what-it-holds.mjs', import.meta.url));
/** Cycles in which caches fill and code is compiled. */
const WARM_UP = 3;
const CYCLES = 5;
const SESSIONS = 40;
/** A session, or a policy of this size, that is kept each time is far more in all. */
const SLACK_BYTES = 1_500_000;
/** What ends by itself after a cycle may take some turns to. */
const PATIENCE_MS = 5_000;

/** In a thread of its own, for its size. */
const LARGE = largePolicy(400).replace('version: 1\n', '');
const SMALL = (name: string): string => `roots: { ${name}: { path: ~/a } }\nrules: [{ id: r, allow: [${name}] }]\n`;

type What = 'descriptors' | 'threads' | 'handles' | 'timers';
type Held = Readonly<Record<What | 'memory', number>>;

class Subject {
  readonly home: TestHome;
  readonly daemon: Served;
  #asked = 0;

  private constructor(home: TestHome, daemon: Served) {
    this.home = home;
    this.daemon = daemon;
  }

  static async start(t: TestContext): Promise<Subject> {
    const home = new TestHome(t, ['dir home/a']);
    home.policy(SMALL('first'));
    return new Subject(home, await home.serveWith({ env: { NODE_OPTIONS: `--import=${PRELOAD}` } }));
  }

  async holds(): Promise<Held> {
    this.daemon.process.kill('SIGUSR2');
    this.#asked += 1;
    return (await this.daemon.logged('holds', this.#asked)) as unknown as Held;
  }

  /** Waits for the moment at which it holds no more than it did; what it holds in the end where that does not come. */
  async settlesAt({ descriptors, threads, handles, timers }: Held): Promise<Held> {
    for (const begun = performance.now(); ; await delay(20)) {
      const held = await this.holds();
      const isBack =
        held.descriptors <= descriptors && held.threads <= threads && held.handles <= handles && held.timers <= timers;
      if (isBack || performance.now() - begun > PATIENCE_MS) return held;
    }
  }

  async reload(policy: string, expected = 0): Promise<void> {
    this.home.policy(policy);
    const { status, err } = await this.home.command('reload', '--wait');
    assert.equal(status, expected, err);
  }

  async untilNoSession(): Promise<void> {
    while ((await this.home.json<StatusReply>('status')).sessions > 0);
  }
}

/** Calls `cycle` again and again, and compares what is held after the last with what was after the first of them. */
async function assertFlat(subject: Subject, cycle: () => Promise<void>): Promise<void> {
  for (let i = 0; i < WARM_UP; i++) await cycle();
  const first = await subject.holds();
  for (let i = 0; i < CYCLES; i++) await cycle();
  const last = await subject.settlesAt(first);
  const told = JSON.stringify({ first, last });
  for (const what of ['descriptors', 'threads', 'handles', 'timers'] satisfies What[]) {
    assert.ok(last[what] <= first[what], `${what}: ${told}`);
  }
  assert.ok(last.memory <= first.memory + SLACK_BYTES, `memory: ${told}`);
  assert.equal(subject.daemon.count('bug'), 0);
}

describe('a daemon holds no more than before', () => {
  it('after many reloads, also of a policy that is read in a thread', async (t) => {
    const subject = await Subject.start(t);
    await attachMany(t, subject.home.socket, 1);
    await assertFlat(subject, async () => {
      await subject.reload(LARGE);
      await subject.reload(SMALL('a'));
      await subject.reload('rules: [{ id: r, allow: [nothing] }]\n', 1);
      await subject.reload(SMALL('b'));
    });
  });

  it('after many sessions that come, are told of changes and go', async (t) => {
    const subject = await Subject.start(t);
    let round = 0;
    await assertFlat(subject, async () => {
      const sessions = await attachMany(t, subject.home.socket, SESSIONS);
      round += 1;
      await subject.reload(SMALL(`r${round}`));
      await untilTold(sessions);
      for (const { attachment } of sessions) attachment.close();
      await subject.untilNoSession();
    });
  });
});
