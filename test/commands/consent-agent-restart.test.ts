// A person at a terminal whose daemon goes and comes back.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NEEDS_TERMINAL, openAgent, TestTerminal } from '../support/agent.ts';
import { ASKS, list, listed, PATIENT, served } from '../support/asking-home.ts';
import { ROOTSD } from '../support/serve.ts';

describe('rootsd consent agent', NEEDS_TERMINAL, () => {
  it('waits for a daemon that is gone, and shows what is asked when it is back', async (t) => {
    const { home, daemon } = await served(t, ASKS, PATIENT);
    await listed(await home.peer('fs'));
    const agent = await openAgent(t, home, '--fallback');
    await agent.sees(/"fs"[\s\S]*quit/);
    await daemon.kill('SIGKILL');
    await agent.sees(/Withdrawn: the daemon is gone/);
    await agent.sees(/Waiting: the daemon is gone/);
    agent.type('1');
    await home.serve();
    await agent.sees(/The daemon is back/);
    await listed(await home.peer('git'));
    await agent.sees(/"git"[\s\S]*quit/);
    assert.deepEqual((await list(home)).grants, [], 'what was typed for nothing answers nothing');
    const first = await openAgent(t, home);
    await agent.sees(/Withdrawn: another agent asks now/);
    await first.sees(/"git"[\s\S]*quit/);
    first.type('1');
    await first.sees(/Approved: read-write, session/);
  });

  it('ends while it waits for the daemon, and leaves the terminal as it was', async (t) => {
    const { home, daemon } = await served(t, ASKS, PATIENT);
    const agent = await openAgent(t, home);
    await daemon.kill('SIGTERM');
    await agent.sees(/Waiting: the daemon is gone/);
    agent.type('q');
    assert.deepEqual(await agent.ended, { status: 0, restored: true });
  });

  it('ends where the daemon that is back wants no agents, or there was none', async (t) => {
    const { home, daemon } = await served(t, ASKS, PATIENT);
    const agent = await openAgent(t, home);
    home.configure('consent: { channels: [host] }\n');
    await daemon.kill('SIGTERM');
    const again = await home.serve();
    await agent.sees(/CONSENT_CHANNEL_OFF/);
    assert.deepEqual(await agent.ended, { status: 77, restored: true });
    await again.kill('SIGTERM');
    const alone = new TestTerminal(t, home.env, [process.execPath, ROOTSD, 'consent', 'agent']);
    assert.deepEqual(await alone.ended, { status: 69, restored: true });
  });
});
