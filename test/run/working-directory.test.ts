import assert from 'node:assert/strict';
import { closeSync, openSync, renameSync, rmdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { FakeDaemon, viewOf } from '../support/fake-daemon.ts';
import { type Json, OBEDIENT_SERVER, RunHost, useRun } from '../support/run-host.ts';
import { makeTree } from '../support/tree.ts';

const program = useRun();
const READ = { script: ['{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}'], path: 'f' };

describe('rootsd run, in a working directory', () => {
  /** May the server read a file by a relative path? */
  async function mayRead(host: RunHost): Promise<boolean> {
    const result = (await host.ask('tools/call', { name: 't', arguments: READ })) as Json;
    return result.isError !== true;
  }

  it('that was removed, runs all the same, and no relative path leads anywhere', async (t) => {
    const base = makeTree(t, ['dir a', 'dir gone', 'dir run']);
    const daemon = await FakeDaemon.start(t, `${base}/run`, viewOf({ a: `${base}/a`, gone: `${base}/gone` }));
    daemon.plan = { ...daemon.plan, relativePaths: 'cwd' };
    const fd = openSync(`${base}/gone`, 'r');
    rmdirSync(`${base}/gone`);
    const args = ['--socket', daemon.socket, '--server', 'o', '--', process.execPath, OBEDIENT_SERVER];
    const host = new RunHost(t, { program: program(), args, cwd: `/proc/${process.pid}/fd/${fd}` });
    await host.initialize();
    closeSync(fd);
    assert.equal(await mayRead(host), false);
    const { params } = await daemon.next('rootsd/attach');
    assert.deepEqual(params.launch, { argv: [process.execPath, OBEDIENT_SERVER], cwd: `${base}/gone (deleted)` });
    assert.equal(host.stderr, '');
  });

  it('that is moved, holds relative paths against where it is then', async (t) => {
    const base = makeTree(t, ['dir a/here', 'dir b', 'dir run']);
    const daemon = await FakeDaemon.start(t, `${base}/run`, viewOf({ a: `${base}/a` }));
    daemon.plan = { ...daemon.plan, relativePaths: 'cwd' };
    const args = ['--socket', daemon.socket, '--server', 'o', '--', process.execPath, OBEDIENT_SERVER];
    const host = new RunHost(t, { program: program(), args, cwd: `${base}/a/here` });
    await host.initialize();
    assert.equal(await mayRead(host), true);
    renameSync(`${base}/a/here`, `${base}/b/there`);
    assert.equal(await mayRead(host), false);
  });
});
