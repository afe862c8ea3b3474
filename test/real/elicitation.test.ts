// A person is asked in their host: real clients of the SDKs. What is said there is what the server may use.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { list, onlyQuestion } from '../support/asking-home.ts';
import {
  type Answer,
  type Asked,
  askingPolicy,
  connect1,
  connect2,
  listed,
  never,
  serve,
  untilAllowed,
  untilAnswered,
  untilPending,
} from '../support/eliciting-hosts.ts';
import type { TestHome } from '../support/serve.ts';

for (const [says, connect] of [
  ['SDK 1.x', connect1],
  ['SDK 2.x in the legacy era', connect2],
] as const) {
  describe(`a host of ${says} that shows forms`, () => {
    it('is asked what the server wants; a yes is the server’s new list, and is written down as the host’s', async (t) => {
      const home = await serve(t);
      const asked: Asked[] = [];
      const host = await connect(home, (question) => {
        asked.push(question);
        return { action: 'accept', content: { answer: '8h' } };
      });
      t.after(host.close);
      await untilAllowed(home, host, 'a', 'b');
      assert.equal(await host.call('read_text_file', { path: join(home.home, 'b/f') }), 'in b');
      assert.deepEqual([asked.length, asked[0]?.scopes], [1, ['session', '8h', 'always']]);
      const lines = asked[0]?.message.split('\n') ?? [];
      assert.equal(lines[0], 'rootsd: "filesystem" (launched) asks for read-only access');
      for (const line of [`path: ${home.home}/b`, 'host: "tester" (claimed)', 'access: read-only', 'reason: because']) {
        assert.ok(lines.includes(line), `${line} in ${lines.join('\n')}`);
      }
      const [{ event, channel, scope, uid } = assert.fail()] = await untilAnswered(home);
      assert.deepEqual([event, channel, scope, uid], ['approved', 'host', '8h', process.getuid?.()]);
    });

    it('gives nothing by "deny", and hears that a question is over which somebody else has answered', async (t) => {
      const home = await serve(t);
      let count = 0;
      const denying = await connect(home, () => {
        count += 1;
        return { action: 'accept', content: { answer: 'deny' } };
      });
      t.after(denying.close);
      const [{ event, channel } = assert.fail()] = await untilAnswered(home);
      assert.deepEqual([event, channel], ['denied', 'host']);
      assert.match(await denying.call('read_text_file', { path: join(home.home, 'b/f') }), /denied/);
      const over = new Promise<void>((resolve) => {
        const answer: Answer = (asked, signal) => {
          signal.addEventListener('abort', () => resolve());
          return never(asked, signal);
        };
        void connect(home, answer).then((host) => t.after(host.close));
      });
      await untilPending(home, 1);
      await home.command('consent', 'deny', (await onlyQuestion(home)).id);
      await over;
      assert.equal(count, 1);
    });
  });
}

describe('a host that shows forms', () => {
  it('says no by a decline, and is not asked again in this session', async (t) => {
    const home = await serve(t);
    let count = 0;
    const host = await connect1(home, () => {
      count += 1;
      return { action: 'decline' };
    });
    t.after(host.close);
    const [{ event, channel } = assert.fail()] = await untilAnswered(home);
    assert.deepEqual([event, channel], ['denied', 'host']);
    await untilPending(home, 0);
    assert.deepEqual(await listed(host), [join(home.home, 'a')]);
    assert.equal(count, 1);
  });

  it('leaves a question to others by a cancel: it stays open, and the command line answers it', async (t) => {
    const home = await serve(t);
    let count = 0;
    const host = await connect2(home, () => {
      count += 1;
      return { action: 'cancel' };
    });
    t.after(host.close);
    await untilPending(home, 1);
    while (count === 0) await listed(host);
    const { id } = await onlyQuestion(home);
    assert.equal((await home.command('consent', 'approve', id)).status, 0);
    await untilAllowed(home, host, 'a', 'b');
    assert.equal(count, 1);
  });

  it('hears that the question is over when its time is: that is a no which nobody remembers', async (t) => {
    const home = await serve(t, { config: 'consent: { timeout: 2s }\n' });
    let count = 0;
    const over = new Promise<void>((resolve) => {
      const answer: Answer = (asked, signal) => {
        count += 1;
        if (count > 1) return { action: 'accept', content: { answer: 'session' } };
        signal.addEventListener('abort', () => resolve());
        return never(asked, signal);
      };
      void connect1(home, answer).then((host) => t.after(host.close));
    });
    await over;
    const { pending, history } = await list(home);
    assert.deepEqual([pending, history, count], [[], [], 1]);
  });
});

describe('a host that is asked nothing', () => {
  /** The other ways work as they do without it. */
  async function judge(t: TestContext, home: TestHome, answer?: Answer): Promise<void> {
    const host = await connect1(home, answer);
    t.after(host.close);
    await untilPending(home, 1);
    assert.deepEqual(await listed(host), [join(home.home, 'a')]);
    assert.equal((await home.command('consent', 'approve', (await onlyQuestion(home)).id)).status, 0);
    await untilAllowed(home, host, 'a', 'b');
    assert.equal((await untilAnswered(home))[0]?.channel, 'command');
  }
  const mustNot: Answer = () => assert.fail('it is asked');

  it('does not say that it shows forms', async (t) => judge(t, await serve(t)));

  it('serves where rootsd.yaml turns this way off', async (t) => {
    await judge(t, await serve(t, { config: 'consent: { timeout: 1h, channels: [agent] }\n' }), mustNot);
  });

  it('works with who is no administrator, for a rule that wants one', async (t) => {
    const home = await serve(t, { policy: askingPolicy(', approver: admin') });
    const host = await connect1(home, mustNot);
    t.after(host.close);
    await untilPending(home, 1);
    assert.deepEqual(await listed(host), [join(home.home, 'a')]);
  });
});
