import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { describe, it } from 'node:test';
import { requestControl } from '../../src/client/control.ts';
import { RootsError } from '../../src/core/errors.ts';
import { FakeDaemon, viewOf } from '../support/fake-daemon.ts';
import { temporaryDirectory } from '../support/tree.ts';

const uid = process.getuid?.() ?? 0;

describe('requestControl()', () => {
  it('asks the control socket beside that of the peers', async (t) => {
    const base = temporaryDirectory(t);
    const control = await FakeDaemon.start(t, base, viewOf({ a: '/a' }));
    renameSync(control.socket, `${base}/control.sock`);
    await FakeDaemon.start(t, base, viewOf({}));
    const search = { explicit: control.socket, uid, stateDirectory: null };
    const view = await requestControl('rootsd/watch', {}, { search });
    assert.deepEqual(view, control.view);
  });

  it('throws the code that the daemon gave, with its words', async (t) => {
    const base = temporaryDirectory(t);
    const control = await FakeDaemon.start(t, base, viewOf({}));
    control.refusal = { code: -32603, message: 'because of this', data: { code: 'PEER_OTHER_USER' } };
    renameSync(control.socket, `${base}/control.sock`);
    await FakeDaemon.start(t, base, viewOf({}));
    const search = { explicit: control.socket, uid, stateDirectory: null };
    const request = (): Promise<unknown> => requestControl('rootsd/status', {}, { search });
    await assert.rejects(request, { code: 'PEER_OTHER_USER', message: 'because of this' });
    control.refusal = { code: -32601, message: 'no such thing' };
    await assert.rejects(request, { code: 'NOT_PERMITTED', message: 'no such thing' });
  });

  it('throws DAEMON_UNREACHABLE with every place and why', async (t) => {
    const base = temporaryDirectory(t);
    const search = { explicit: `${base}/rootsd.sock`, uid, stateDirectory: null };
    const request = (): Promise<unknown> => requestControl('rootsd/status', {}, { search });
    await assert.rejects(request, (error) => {
      assert.ok(error instanceof RootsError);
      assert.equal(error.code, 'DAEMON_UNREACHABLE');
      assert.ok(error.message.includes(`"${base}/rootsd.sock": there is none`), error.message);
      return true;
    });
    await FakeDaemon.start(t, base, viewOf({}));
    await assert.rejects(request, (error) =>
      (error as Error).message.includes(`"${base}/control.sock": there is none`),
    );
  });
});
