// A daemon that is killed at each of its steps on the file of consents: the next start has what was said to be kept, nothing that
// was said to be taken back, and of what nobody was told the end of, all or nothing.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ASKS, list, listed, PATIENT } from '../support/asking-home.ts';
import { TestHome } from '../support/serve.ts';

/** Every step where this is set; else some. */
const ROUNDS = process.env.ROOTSD_ALL_STEPS === undefined ? 4 : Number.POSITIVE_INFINITY;
const PRELOAD = fileURLToPath(new URL('../support/dies-at-step.mjs', import.meta.url));

/** What one life of a daemon has been asked, each with whether it has said that it is done. */
interface Life {
  readonly steps: readonly string[];
  readonly fs: boolean;
  readonly git: boolean;
  readonly revoked: boolean | null;
}

/** Approves for two servers and takes back from the first, as far as the daemon lives. */
async function live(home: TestHome, step: number): Promise<Life> {
  const state = join(home.home, '.local/state/rootsd');
  const stepsFile = join(home.base, 'steps');
  const below = ['consents.json', '.consents.json.'].map((name) => join(state, name)).join(':');
  const env = { NODE_OPTIONS: `--import=${PRELOAD}`, DIE_AT: String(step), DIE_BELOW: below, STEPS_FILE: stepsFile };
  const daemon = await home.serveWith({ env });
  for (const server of ['fs', 'git']) await listed(await home.peer(server));
  const { pending } = await list(home);
  const command = async (...args: readonly string[]) => (await home.command('consent', ...args)).status === 0;
  const approve = (server: string) => {
    const id = pending.find((row) => row.server === server)?.id ?? assert.fail();
    return command('approve', id, '--scope', 'always');
  };
  const [fs, git] = [await approve('fs'), await approve('git')];
  const revoked = fs && git ? await command('revoke', '--server', 'fs') : null;
  await (step === 0 ? daemon.kill('SIGTERM') : daemon.ended);
  assert.equal(daemon.process.signalCode, step === 0 ? null : 'SIGKILL', `step ${step}`);
  const steps = existsSync(stepsFile) ? readFileSync(stepsFile, 'utf8').trimEnd().split('\n') : [];
  return { steps, fs, git, revoked };
}

function homeOf(t: TestContext): TestHome {
  const home = new TestHome(t, ['dir home/a', 'dir home/b']);
  home.policy(ASKS);
  home.configure(PATIENT);
  return home;
}

test('a daemon that is killed at any step of keeping consents starts with each whole or not at all', async (t) => {
  const whole = await live(homeOf(t), 0);
  assert.deepEqual([whole.fs, whole.git, whole.revoked], [true, true, true]);
  const { length } = whole.steps;
  assert.ok(length >= 15, `${length} steps`);
  const stride = Math.max(1, Math.floor(length / ROUNDS));
  const seen = new Set<string>();
  for (let step = stride; step <= length; step += stride) {
    const what = `step ${step}: ${whole.steps[step - 1]}`;
    const home = homeOf(t);
    const { fs, git, revoked } = await live(home, step);
    const daemon = await home.serve();
    const held = (await list(home)).grants.map(({ server }) => server).sort();
    assert.equal(daemon.count('consents refused'), 0, what);
    if (git) assert.ok(held.includes('git'), what);
    if (fs && revoked === null) assert.ok(held.includes('fs'), what);
    if (revoked === true) assert.ok(!held.includes('fs'), what);
    const left = readdirSync(join(home.home, '.local/state/rootsd')).filter((name) => name.includes('consents.json'));
    assert.deepEqual(
      left.filter((name) => name !== 'consents.json'),
      [],
      what,
    );
    seen.add(held.join());
    await daemon.kill('SIGTERM');
  }
  assert.ok(seen.size >= 3, [...seen].join(' | '));
});
