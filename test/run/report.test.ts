// What `rootsd run` tells the daemon of its session.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useRun } from '../support/run-host.ts';
import { setUpRun } from '../support/run-setup.ts';

const program = useRun();

describe('rootsd run reports', () => {
  it('what carries the boundary, the era of the host, and that the server has asked', async (t) => {
    const { daemon, host } = await setUpRun(t, program());
    const next = async () => (await daemon.next('rootsd/report')).params;
    assert.deepEqual(await next(), { era: null, channels: ['roots'], askedForRoots: null, elicits: false });
    await host.initialize();
    assert.deepEqual(await next(), { era: 'legacy', channels: ['roots'], askedForRoots: null, elicits: false });
    await host.ask('roots');
    assert.deepEqual(await next(), { era: 'legacy', channels: ['roots'], askedForRoots: true, elicits: false });
    await host.ask('roots');
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    await host.request('echo', { _meta });
    assert.deepEqual(
      await next(),
      { era: 'modern', channels: ['roots'], askedForRoots: true, elicits: false },
      'only what is new',
    );
  });

  it('what carries the boundary when the policy makes that another', async (t) => {
    const { daemon } = await setUpRun(t, program(), { args: ['{roots}'] });
    assert.deepEqual((await daemon.next('rootsd/report')).params.channels, ['roots', 'argv']);
    daemon.plan = { ...daemon.plan, channels: [{ kind: 'cwd' }] };
    daemon.publish(daemon.view);
    assert.deepEqual((await daemon.next('rootsd/report')).params.channels, ['cwd', 'argv']);
  });

  it('a call that it has refused, as far as a person reads it; of many only so many', async (t) => {
    const { daemon, host } = await setUpRun(t, program());
    await host.initialize();
    const call = (path: string) => host.request('tools/call', { name: 'read\u202e', arguments: { path } });
    await call('/etc/passwd');
    const told = { method: 'tools/call', tool: 'read\\u202e', access: 'read-write', reason: 'outside', left: 0 };
    assert.deepEqual((await daemon.next('rootsd/refused')).params, { ...told, path: '/etc/passwd' });
    await Promise.all(Array.from({ length: 30 }, () => call(`/${'x'.repeat(1_000)}`)));
    // In order behind what was told.
    await host.ask('roots');
    while ((await daemon.next('rootsd/report')).params.askedForRoots !== true);
    const more = daemon.received.filter(({ method }) => method === 'rootsd/refused');
    assert.equal(more.length, 19);
    assert.equal(String(more[0]?.params.path).length, 301);
  });
});
