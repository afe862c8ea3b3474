// A person at a terminal, with a real daemon.
import assert from 'node:assert/strict';
import { constants as osConstants } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { NEEDS_TERMINAL, openAgent, type TestTerminal } from '../support/agent.ts';
import { ASKS, list, listed, onlyQuestion, PATIENT, served } from '../support/asking-home.ts';

describe('rootsd consent agent', NEEDS_TERMINAL, () => {
  it('shows a question as it comes, and a key gives what is asked for, under its name', async (t) => {
    const { home } = await served(t, ASKS, PATIENT);
    const agent = await openAgent(t, home);
    const peer = await home.peer('fs', { watch: true });
    await listed(peer);
    const shown = await agent.sees(/"fs" \(claimed\) asks for read-write access[\s\S]*quit/);
    assert.ok(shown.includes(join(home.home, 'a')), shown);
    assert.match(shown, /rule +q \(.*test\.yaml:3\)/);
    assert.match(shown, /reason +because/);
    assert.match(shown, /\[1\] session {2}\[2\] 8h {2}\[3\] always/);
    agent.type('2');
    await agent.sees(/Approved: read-write, 8h/);
    const { grants, history } = await list(home);
    assert.deepEqual([grants[0]?.scope, history[0]?.event, history[0]?.channel], ['8h', 'approved', 'agent']);
    agent.type('q');
    assert.deepEqual(await agent.ended, { status: 0, restored: true });
  });

  it('shows what was asked before it came; gives less where less is chosen; Enter is no', async (t) => {
    const { home } = await served(t, ASKS, PATIENT);
    await listed(await home.peer('fs'));
    const agent = await openAgent(t, home);
    await agent.sees(/"fs" \(claimed\) asks[\s\S]*quit/);
    agent.type('r');
    await agent.sees(/yes, read-only: /);
    agent.type('1');
    await agent.sees(/Approved: read-only, session/);
    await listed(await home.peer('git'));
    await agent.sees(/"git" \(claimed\) asks[\s\S]*quit/);
    agent.type('\r');
    await agent.sees(/Denied/);
    const { pending, history } = await list(home);
    assert.deepEqual([pending, history.at(-1)?.event], [[], 'denied']);
  });

  it('is one of several: the first answer counts, the others say so', async (t) => {
    const { home } = await served(t, ASKS, PATIENT);
    const [one, two] = [await openAgent(t, home), await openAgent(t, home)];
    await listed(await home.peer('fs'));
    await Promise.all([one.sees(/quit/), two.sees(/quit/)]);
    two.type('1');
    await two.sees(/Approved: read-write, session/);
    await one.sees(/Withdrawn: it is answered/);
    await listed(await home.peer('git'));
    await Promise.all([one.sees(/"git"[\s\S]*quit/), two.sees(/"git"[\s\S]*quit/)]);
    await home.command('consent', 'deny', (await onlyQuestion(home)).id);
    await Promise.all([one.sees(/Withdrawn: it is answered/), two.sees(/Withdrawn: it is answered/)]);
  });

  it('says so where a question is over or nobody asks any more', async (t) => {
    const { home } = await served(t, ASKS, 'consent: { timeout: 1s }\n');
    const agent = await openAgent(t, home);
    await listed(await home.peer('fs'));
    await agent.sees(/Withdrawn: nobody has answered in time/);
    const peer = await home.peer('git');
    await listed(peer);
    await agent.sees(/"git"/);
    peer.socket.destroy();
    await agent.sees(/Withdrawn: nobody/);
    assert.deepEqual((await list(home)).grants, []);
  });

  it('with --fallback asks only while no other agent is there', async (t) => {
    const { home } = await served(t, ASKS, PATIENT);
    const fallback = await openAgent(t, home, '--fallback');
    await listed(await home.peer('fs'));
    await fallback.sees(/"fs"[\s\S]*quit/);
    const first = await openAgent(t, home);
    await first.sees(/"fs"[\s\S]*quit/);
    await fallback.sees(/Withdrawn: another agent asks now/);
    first.type('q');
    await first.ended;
    await fallback.sees(/"fs"[\s\S]*quit/);
    fallback.type('1');
    await fallback.sees(/Approved/);
  });

  for (const [name, end, status] of [
    ['Ctrl-C', (agent: TestTerminal) => agent.type('\u0003'), 0],
    ['SIGTERM', (agent: TestTerminal) => agent.signal(osConstants.signals.SIGTERM), -osConstants.signals.SIGTERM],
    ['SIGHUP', (agent: TestTerminal) => agent.signal(osConstants.signals.SIGHUP), -osConstants.signals.SIGHUP],
  ] as const) {
    it(`leaves the terminal as it was at ${name}, and the question open`, async (t) => {
      const { home } = await served(t, ASKS, PATIENT);
      await listed(await home.peer('fs'));
      const agent = await openAgent(t, home);
      await agent.sees(/quit/);
      end(agent);
      assert.deepEqual(await agent.ended, { status, restored: true });
      await onlyQuestion(home);
    });
  }

  it('is refused without a terminal, and where rootsd.yaml wants no agents', async (t) => {
    const { home } = await served(t, ASKS, 'consent: { channels: [host] }\n');
    const { status, err } = await home.run('consent', 'agent');
    assert.deepEqual([status, /must be a terminal/.test(err)], [64, true]);
    const agent = await openAgent(t, home);
    await agent.sees(/CONSENT_CHANNEL_OFF/);
    assert.deepEqual(await agent.ended, { status: 77, restored: true });
  });
});
