// A daemon that is killed at each of its steps on the disk: what the next start finds is the old state or the new one.
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { StatusReply } from '../../src/daemon/control.ts';
import { attachMany } from '../support/attached.ts';
import { type Served, type StartOptions, TestHome } from '../support/serve.ts';
import { auditFiles, verifyAudit } from '../support/verify-audit.ts';

/** Every step where this is set; else about so many rounds, spread over all steps. */
const ROUNDS = process.env.ROOTSD_ALL_STEPS === undefined ? 10 : Number.POSITIVE_INFINITY;
const PRELOAD = fileURLToPath(new URL('../support/dies-at-step.mjs', import.meta.url));
const FAILS = fileURLToPath(new URL('../support/fails-on-disk.mjs', import.meta.url));
const KEEP = 3;

const policyOf = (name: string): string => `roots: { ${name}: { path: ~/a } }\nrules: [{ id: r, allow: [${name}] }]\n`;

class Subject {
  readonly home: TestHome;
  readonly state: string;
  readonly run: string;
  readonly #saved: string;
  readonly #steps: string;

  constructor(t: TestContext) {
    this.home = new TestHome(t, ['dir home/a']);
    // Small enough to be put away several times in one life.
    this.home.configure(`audit: { size: 1KiB, keep: ${KEEP} }\n`);
    this.state = join(this.home.home, '.local/state/rootsd');
    this.run = join(this.home.base, 'run');
    this.#saved = join(this.home.base, 'saved');
    this.#steps = join(this.home.base, 'steps');
  }

  save(): void {
    cpSync(this.state, this.#saved, { recursive: true });
  }

  /** As when it was saved, and no trace of a daemon. */
  restore(): void {
    this.home.remove(this.state);
    this.home.remove(this.run);
    if (existsSync(this.#saved)) cpSync(this.#saved, this.state, { recursive: true });
  }

  /** Starts a daemon that dies at that step; 0: at none, and its steps are noted. */
  serveUntil(step: number): Promise<Served> {
    const NODE_OPTIONS = `--import=${PRELOAD}`;
    const env = { NODE_OPTIONS, DIE_AT: String(step), DIE_BELOW: `${this.state}:${this.run}`, STEPS_FILE: this.#steps };
    return this.home.serveWith({ env } satisfies StartOptions);
  }

  /** What the life that died at no step has noted. */
  steps(): readonly string[] {
    return readFileSync(this.#steps, 'utf8').trimEnd().split('\n');
  }

  async status(): Promise<StatusReply> {
    return this.home.json<StatusReply>('status');
  }

  /** What is there is what belongs there, and the audit is whole. */
  assertClean(what: string): void {
    const own = ['control.sock', 'lock', 'rootsd.sock', 'rootsd.sock.plan-first.json'];
    assert.deepEqual(readdirSync(this.run).sort(), own, what);
    const audit = /^audit\.jsonl(\.[1-9]|\.torn)?$/;
    const others = readdirSync(this.state).filter((name) => !audit.test(name));
    assert.deepEqual(others.sort(), ['endpoint', 'last-good', 'lock'], what);
    assert.deepEqual(readdirSync(join(this.state, 'last-good')), ['user.json'], what);
    const verdict = verifyAudit(auditFiles(join(this.state, 'audit.jsonl'), KEEP));
    assert.equal(verdict.ok, true, `${what}: ${JSON.stringify(verdict)}`);
  }
}

/** The whole life of a daemon, as far as it gets: start, a session, an edit, the end. */
async function live(subject: Subject, step: number): Promise<void> {
  const { home } = subject;
  home.policy(policyOf('new'));
  const daemon = await subject.serveUntil(step);
  try {
    await daemon.logged('daemon started');
    const peer = await home.peer('s');
    home.policy(policyOf('newer'));
    await daemon.logged('layer activated', 2);
    peer.socket.destroy();
    await daemon.logged('peer detached');
    daemon.process.kill('SIGTERM');
  } catch {
    // It has died.
  }
  await daemon.ended;
  assert.equal(daemon.process.signalCode, step === 0 ? null : 'SIGKILL', `step ${step}`);
}

/** Steps to die at: all, or some of them, which differ from one kind of step to the next. */
function chosen(steps: readonly string[]): readonly (readonly [number, string])[] {
  const all = steps.map((step, i) => [i + 1, step] as const);
  const stride = Math.max(1, Math.ceil(all.length / ROUNDS));
  return all.filter(([number]) => number % stride === 0);
}

describe('the daemon, killed at each step on the disk', () => {
  it('starts again with the old policy or the new, whole, and with nothing left over', async (t) => {
    const subject = new Subject(t);
    const { home } = subject;
    const generations = new Map<string, string>();
    for (const name of ['new', 'newer', 'old']) {
      home.policy(policyOf(name));
      const daemon = await home.serve();
      generations.set((await subject.status()).generation, name);
      await daemon.kill('SIGTERM');
    }
    subject.save();
    await live(subject, 0);
    const steps = subject.steps();
    assert.ok(steps.length > 40, `${steps.length} steps`);
    const seen = new Set<string>();
    for (const [number, step] of chosen(steps)) {
      const what = `step ${number}: ${step}`;
      subject.restore();
      await live(subject, number);
      // What was in force is known from what was kept alone.
      home.policy('rules: [');
      const daemon = await home.serve();
      const { state, generation } = await subject.status();
      const name = generations.get(generation);
      assert.deepEqual([state, name === undefined], ['degraded', false], what);
      seen.add(name ?? '');
      subject.assertClean(what);
      assert.equal((await daemon.kill('SIGTERM')).status, 0, what);
    }
    assert.ok(seen.has('old') && seen.has('new'), [...seen].join());
  });

  it('starts as if for the first time where it was killed in its very first start', async (t) => {
    const subject = new Subject(t);
    const { home } = subject;
    subject.restore();
    await live(subject, 0);
    for (const [number, step] of chosen(subject.steps())) {
      const what = `step ${number}: ${step}`;
      subject.restore();
      await live(subject, number);
      home.policy(policyOf('mended'));
      const daemon = await home.serve();
      assert.equal((await subject.status()).state, 'ok', what);
      subject.assertClean(what);
      assert.equal((await daemon.kill('SIGTERM')).status, 0, what);
    }
  });

  it('has told a policy before it is kept: killed in between, it starts with the files, and with what was kept if they are broken', async (t) => {
    const { home, state } = new Subject(t);
    home.policy(policyOf('old'));
    const env = { NODE_OPTIONS: `--import=${FAILS}`, FAIL_BELOW: state, FAIL_WITH: 'EIO' };
    const daemon = await home.serveWith({ env });
    const [session] = await attachMany(t, home.socket, 1);
    const old = (await home.json<StatusReply>('status')).generation;
    // As long as the disk fails it is in between.
    daemon.process.kill('SIGUSR2');
    home.policy(policyOf('new'));
    while (session?.told.at(-1)?.join() !== 'new') await new Promise((resolve) => setTimeout(resolve, 10));
    await daemon.logged('last good state not kept');
    session?.attachment.close();
    await daemon.kill('SIGKILL');

    for (const [text, expected] of [
      ['rules: [', { state: 'degraded', isOld: true }],
      [policyOf('new'), { state: 'ok', isOld: false }],
    ] as const) {
      home.policy(text);
      const next = await home.serve();
      const { state, generation } = await home.json<StatusReply>('status');
      assert.deepEqual({ state, isOld: generation === old }, expected);
      await next.kill('SIGTERM');
    }
  });
});
