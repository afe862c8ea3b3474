import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ReloadReply, SessionsReply } from '../../src/daemon/control.ts';
import { OBEDIENT_SERVER, RunHost } from '../support/run-host.ts';
import { ROOTSD, TestHome } from '../support/serve.ts';

it('twenty runs at once get their first roots, and a change reaches and is acknowledged by all of them', async (t) => {
  const home = new TestHome(t, ['dir home/a', 'dir home/b']);
  const allow = (name: string): string =>
    home.policy(`roots: { ${name}: { path: ~/${name} } }\nrules: [{ id: r, allow: [${name}], servers: [o] }]\n`);
  allow('a');
  await home.serve();
  const args = ['run', '--server', 'o', '--', process.execPath, OBEDIENT_SERVER];
  const hosts = Array.from({ length: 20 }, () => new RunHost(t, { program: ROOTSD, args, env: home.env }));
  const roots = (): Promise<readonly unknown[]> =>
    Promise.all(
      hosts.map(async (host) => {
        const { result } = (await host.ask('roots')) as { result: { roots: { uri: string }[] } };
        return result.roots.map(({ uri }) => uri);
      }),
    );
  await Promise.all(hosts.map((host) => host.initialize()));
  assert.deepEqual(await roots(), Array(20).fill([`file://${home.home}/a`]));
  const { sessions } = await home.json<SessionsReply>('sessions');
  assert.deepEqual(new Set(sessions.map((one) => one.class)), new Set(['launched']));

  allow('b');
  // On a busy machine some may be late; the next one waits for them.
  let reload = await home.json<ReloadReply>('reload', '--wait');
  while (reload.sessions.late > 0) reload = await home.json<ReloadReply>('reload', '--wait');
  assert.deepEqual(reload.sessions, { acknowledged: 20, late: 0 });
  assert.deepEqual(await roots(), Array(20).fill([`file://${home.home}/b`]));
});
